import type { GoldenMemberLine, GoldenSetDetail } from '../../../service/views/analytics/golden-set.ts';
import { exactTime, percent } from '../format.ts';
import { paths } from '../paths.ts';
import { portionOf } from '../portion.ts';
import { plural } from '../runs/row.ts';
import type { RegressionList } from '../../../service/views/analytics/regression.ts';
import { historyView } from './history.ts';
import { OUTCOME_LOOKS } from './outcome.ts';
import { labelsOf } from './view.ts';

const SOURCES: Record<GoldenMemberLine['label_source'], string> = {
  human: 'mark of the step',
  deterministic: 'failed check',
  run: 'mark of the run',
};

const MEMBERS_A_PAGE = 50;

interface Reader {
  operator: boolean;
  page: number;
  /** Who answers the step now, as `replay.safe_agents` names it. */
  agents: readonly string[];
}

/** One set with its members, in the order in which they were pinned. */
export function goldenSetPage(set: GoldenSetDetail, replays: RegressionList, { operator, page, agents }: Reader) {
  const goTo = (number: number) => paths.goldenSet(set.id, { page: number });
  const { rows, pager } = portionOf(set.rows, { page, size: MEMBERS_A_PAGE, goTo });
  const archived = set.archived_at !== null;
  const diverged = set.rows.filter(isDiverged).length;
  const gone = set.rows.filter(({ available }) => !available).length;
  return {
    name: set.name,
    description: set.description,
    archived,
    listPath: paths.goldenSets(),
    runsPath: paths.runs(),
    markingPath: paths.marking({ step: set.step_name }),
    operator,
    replay: archived || set.members === 0 ? null : paths.replayNew({ step: set.step_name, samples: `set:${set.id}` }),
    exportPath: paths.goldenSetExport(set.id),
    archiveAction: paths.goldenSetArchive(set.id, archived ? 'restore' : 'archive'),
    facts: [
      { label: 'Step', value: set.step_name, href: paths.step(set.step_name) },
      { label: 'Members', value: String(set.members), href: null },
      { label: 'Baseline accuracy', value: percent(set.accuracy), href: null },
      { label: 'Labels', value: labelsOf(set.labels) || '–', href: null },
      { label: 'Created', value: `${exactTime(set.created_at)} by ${set.created_by}`, href: null },
    ],
    step: set.step_name,
    notice: noticeOf(diverged, gone),
    history: set.members > 0 || replays.regressions.length > 0 ? historyView(set.name, replays, agents) : null,
    rows: rows.map((row) => memberRow(set, row, operator && !archived)),
    pager,
  };
}

const isDiverged = ({ outcome, current_outcome: now }: GoldenMemberLine): boolean => now !== null && now !== outcome;

function noticeOf(diverged: number, gone: number): string {
  const parts = [
    diverged === 0 ? '' : `${plural(diverged, 'member')} got another mark after the pin; the pinned label stays.`,
    gone === 0 ? '' : `${plural(gone, 'member')} cannot be replayed, because the execution is not stored here.`,
  ];
  return parts.filter((part) => part !== '').join(' ');
}

function memberRow(set: GoldenSetDetail, row: GoldenMemberLine, changeable: boolean) {
  return {
    id: row.id,
    look: OUTCOME_LOOKS[row.outcome],
    title: row.summary ?? (row.available ? 'No summary' : 'This execution is not stored here'),
    href: row.available ? paths.run(row.run_id, { step: row.step_name }) : null,
    where: [row.run_summary, row.pipeline_name, row.step_name, `run …${row.run_id.slice(-8)}`]
      .filter((part) => part !== null)
      .join(' · '),
    source: SOURCES[row.label_source],
    pinned: exactTime(row.pinned_at),
    since: row.pinned_at,
    by: row.pinned_by,
    versions: versionsOf(row),
    note: row.note ?? '',
    now: isDiverged(row) ? row.current_outcome : null,
    gone: !row.available,
    action: changeable ? paths.goldenMember(set.id, row.id) : null,
  };
}

const versionsOf = ({ prompt_hash: prompt, agent_version: agent }: GoldenMemberLine): string =>
  [prompt === null ? '' : `prompt ${prompt}`, agent === null ? '' : `agent ${agent}`]
    .filter((part) => part !== '')
    .join(' · ');
