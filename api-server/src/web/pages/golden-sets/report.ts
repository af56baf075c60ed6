import { LABEL_OF, meanLabel, type RegressionReport } from '../../../service/views/analytics/regression.ts';
import { exactTime, percent } from '../format.ts';
import { paths } from '../paths.ts';
import type { StatusLook } from '../status.ts';
import { regressionLook } from './history.ts';
import { OUTCOME_LOOKS } from './outcome.ts';

type Row = RegressionReport['rows'][number];

const number = (value: number | null): string => (value === null ? '–' : String(value));

const SOURCES = { human: 'mark of a person', deterministic: 'failed check', judge: 'judge' } as const;
const STATES: Record<Exclude<Row['state'], 'graded'>, StatusLook> = {
  ungraded: { icon: 'pending', word: 'No label', tone: 'quiet' },
  failed: { icon: 'failed', word: 'No answer', tone: 'bad' },
  unreplayable: { icon: 'skipped', word: 'Unreplayable', tone: 'wait' },
};

/** First what regressed, then what improved, what could not be replayed, and the rest. */
const rankOf = ({ change, state }: Row): number =>
  change === 'regressed' ? 0 : change === 'improved' ? 1 : state === 'unreplayable' ? 2 : state === 'ungraded' ? 3 : 4;

/** One replay of a set by the clock: figures, then its members. */
export function reportView(report: RegressionReport) {
  return {
    listPath: paths.goldenSets(),
    set: report.golden_set,
    setPath: paths.goldenSet(report.set_id),
    answersPath: report.run_id === null || !report.available ? null : paths.replay(report.run_id),
    title: exactTime(report.fire_at),
    look: regressionLook(report),
    running: report.status === 'running',
    alert: report.alert,
    lost: !report.available && report.status !== 'crashed',
    tiles: [
      baselineTile(report),
      {
        label: 'Fresh accuracy',
        figure: percent(report.fresh_accuracy),
        note: `${number(report.n_graded)} of ${report.n_members} members graded`,
      },
      { label: 'Regressed', figure: number(report.n_regressed), note: 'worse than pinned, or without an answer' },
      { label: 'Improved', figure: number(report.n_improved), note: 'better than pinned' },
      { label: 'Unreplayable', figure: number(report.n_unreplayable), note: 'not asked again' },
      { label: 'Divergences', figure: number(report.n_divergences), note: 'marked otherwise after the pin' },
    ],
    step: report.step_name,
    rows: report.rows.toSorted((a, b) => rankOf(a) - rankOf(b)).map((row) => memberRow(report, row)),
  };
}

/** That of the members which the fresh accuracy is of, so that the two are of the same. */
function baselineTile({ rows, n_members: members, baseline_accuracy: all }: RegressionReport) {
  const graded = rows.filter(({ state, fresh_outcome: fresh }) => state === 'graded' && fresh !== null);
  const own = meanLabel(graded.map(({ pinned_outcome: pinned }) => LABEL_OF[pinned]));
  if (own === null || graded.length === members)
    return { label: 'Baseline accuracy', figure: percent(all), note: 'mean of the pinned labels' };
  const note = `pinned labels of the ${graded.length} graded; ${percent(all)} of all ${members}`;
  return { label: 'Baseline accuracy', figure: percent(own), note };
}

const CHANGES: Record<NonNullable<Row['change']>, StatusLook> = {
  regressed: { icon: 'alert', word: 'Regressed', tone: 'bad' },
  improved: { icon: 'escalated', word: 'Improved', tone: 'good' },
  same: { icon: 'check', word: 'As before', tone: 'quiet' },
};

/** The mark that the recorded execution got after the pin; null where it is the pinned one. */
const divergence = ({ current_outcome: now, pinned_outcome: pinned }: Row) => (now === pinned ? null : now);

function changeLook({ change, state }: Row): StatusLook {
  if (change !== null) return CHANGES[change];
  return STATES[state === 'graded' ? 'ungraded' : state];
}

function memberRow({ run_id: batch }: RegressionReport, row: Row) {
  return {
    change: changeLook(row),
    pinned: OUTCOME_LOOKS[row.pinned_outcome],
    fresh: row.fresh_outcome === null ? null : OUTCOME_LOOKS[row.fresh_outcome],
    source: row.fresh_label_source === null ? '' : SOURCES[row.fresh_label_source],
    summary: row.candidate_summary ?? '',
    reason: row.reason ?? '',
    divergent: divergence(row),
    recorded: row.run_id === null ? null : { href: paths.run(row.run_id), name: `…${row.run_id.slice(-8)}` },
    freshHref:
      batch === null || row.state === 'unreplayable' ? null : paths.run(batch, { step: row.candidate_step_name }),
  };
}
