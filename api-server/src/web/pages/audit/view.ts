import { age, count, exactTime } from '../format.ts';
import type { Snapshot } from '../../../service/definitions/definitions.ts';
import { AUDIT_FILTERS, type AuditLine } from '../../../service/views/audit.ts';
import { paths } from '../paths.ts';
import { diffLines } from '../diff/diff-lines.ts';
import { isFiltered, listQuery, pager, select } from '../list-filters.ts';
import { type Filters, PAGE_SIZE } from './filters.ts';

export interface AuditInput {
  rows: AuditLine[];
  total: number;
  filters: Filters;
  /** The row whose YAML is shown. */
  open: number | null;
  definitions: Snapshot;
  now: number;
}

const ROLES = ['admin', 'operator', 'viewer', 'reload'];
const FAILED = new Set(['failed', 'unavailable']);
/** Outcomes of operations that were refused, or done in part. */
const REFUSED: Record<string, string> = {
  reloaded_with_errors: 'reloaded with errors',
  collision: 'refused: exists',
  managed: 'refused: managed',
  reload_failed: 'refused: breaks',
};

const spaced = (name: string): string => name.replaceAll('_', ' ');

function outcomeLook(outcome: string) {
  if (FAILED.has(outcome)) return { tone: 'bad', icon: 'failed', word: outcome };
  const refused = REFUSED[outcome];
  if (refused !== undefined) return { tone: 'wait', icon: 'alert', word: refused };
  return { tone: 'quiet', icon: 'check', word: spaced(outcome.replace('wont_fix', 'will not fix')) };
}

const presentOf = ({ target_type: type, target }: AuditLine, { pipelines, steps }: Snapshot) =>
  (type === 'step' ? steps : pipelines).find(({ name }) => name === target);

function targetPath(row: AuditLine, definitions: Snapshot): string | null {
  const { target_type: type, target, run_id: run } = row;
  if (run !== null) {
    if (row.action === 'replay') return paths.replay(run);
    return paths.run(run, { step: stepIn(row) });
  }
  if (type === 'delivery' && target !== null) return paths.delivery(Number(target));
  if (presentOf(row, definitions) === undefined || row.target === null) return null;
  return row.target_type === 'step' ? paths.step(row.target) : paths.pipeline(row.target);
}

/** The definition before the change, and its diff to the present one. */
function priorView(row: AuditLine, prior: string, definitions: Snapshot) {
  const present = presentOf(row, definitions);
  const lines = present === undefined ? null : diffLines(prior, present.text);
  return {
    gone: present === undefined,
    same: present?.text === prior,
    diff: lines === null || lines.length === 0 ? null : lines,
    lines: prior
      .replace(/\n$/, '')
      .split('\n')
      .map((text, index) => ({ number: index + 1, text })),
    href: targetPath(row, definitions),
    target: row.target,
  };
}

/** The step of its run that a row is about. An approval is named by it: its id is not readable. */
function stepIn({ target_type: type, target, action }: AuditLine): string | null {
  if (target === null || action === 'replay') return null;
  if (type === 'approval') return target.split(' ')[1] ?? null;
  return type === 'step' ? target : null;
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
/** The end of an id, by which people tell two apart. */
const short = (id: string): string => (UUID.test(id) ? `…${id.slice(-8)}` : id);

/** The target in words. */
function whatOf(row: AuditLine): string {
  const { target_type: type, target, run_id: run } = row;
  if (target === null) return type;
  const step = run === null ? null : stepIn(row);
  return step === null || run === null ? `${spaced(type)} ${short(target)}` : `step ${step} of run ${short(run)}`;
}

function rowView(row: AuditLine, { filters, open, definitions, now }: AuditInput) {
  const isOpen = row.id === open && row.prior_yaml !== null;
  const unfold = paths.audit({ ...listQuery(filters), ...(isOpen ? {} : { open: row.id }) });
  return {
    id: row.id,
    look: outcomeLook(row.outcome),
    action: spaced(row.action.slice(0, 1).toUpperCase() + row.action.slice(1)),
    what: whatOf(row),
    href: row.prior_yaml === null ? targetPath(row, definitions) : `${unfold}#row-${row.id}`,
    unfolds: row.prior_yaml !== null,
    expanded: isOpen ? 'true' : 'false',
    actor: row.actor,
    role: row.role ?? row.actor_kind,
    since: row.ts,
    exact: exactTime(row.ts),
    age: age(row.ts, now),
    request: row.request_id,
    prior: isOpen && row.prior_yaml !== null ? priorView(row, row.prior_yaml, definitions) : null,
  };
}

const fields = ({ target = '', actor = '', since = '', until = '' }: Filters) => ({
  target,
  actor,
  since: since.slice(0, 10),
  until: until.slice(0, 10),
});

/** The audit log with filters and pager; one row may be expanded (Orchestration 2.12). */
export function auditView(input: AuditInput) {
  const { rows, total, filters } = input;
  const offset = (filters.page - 1) * PAGE_SIZE;
  const shown = { page: filters.page, offset, shown: rows.length, total: count(total) };
  return {
    action: paths.audit(),
    total: total === 1 ? '1 entry' : `${count(total)} entries`,
    ...pager({ ...shown, more: offset + rows.length < total }, (page) => paths.audit(listQuery({ ...filters, page }))),
    filtered: isFiltered(filters),
    ...fields(filters),
    selects: [
      select('action', 'Action', { known: AUDIT_FILTERS.actions, chosen: filters.action, words: spaced }),
      select('target_type', 'Target type', {
        known: AUDIT_FILTERS.targets,
        chosen: filters.target_type,
        words: spaced,
      }),
      select('role', 'Role', { known: ROLES, chosen: filters.role }),
    ],
    rows: rows.map((row) => rowView(row, input)),
  };
}
