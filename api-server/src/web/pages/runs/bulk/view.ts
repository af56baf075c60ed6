import type { BulkAction, BulkResults } from '../../../../service/bulk/bulk.ts';
import type { RunLine } from '../../../../service/views/run.ts';
import { apiPath, type Call } from '../../curl.ts';
import { count } from '../../format.ts';
import { paths } from '../../paths.ts';
import { RESOLUTION_WORDS } from '../../attention-look.ts';
import { isActive } from '../../status.ts';
import { costCell, plural, runRow } from '../row.ts';

export type Action = BulkAction['action'];

interface Look {
  verb: string;
  /** What will happen to these runs. */
  effect(runs: readonly RunLine[], currency: string): string;
}

function onlyNeeding(runs: readonly RunLine[]): string {
  const without = runs.filter(({ attention }) => attention === null).length;
  if (without === 0) return '';
  return without === 1
    ? ' One of these runs needs nobody and stays as it is.'
    : ` ${without} of these runs need nobody and stay as they are.`;
}

const LOOKS: Record<Action, Look> = {
  acknowledge: {
    verb: 'Acknowledge',
    effect: (runs) =>
      `Says that somebody looks at ${runs.length === 1 ? 'it' : 'them'}; reminders stop.${onlyNeeding(runs)}`,
  },
  resolve: {
    verb: 'Resolve',
    effect: (runs) =>
      `${runs.length === 1 ? 'Closes it; it no longer waits' : 'Closes them; they no longer wait'} for anybody.${onlyNeeding(runs)}`,
  },
  reopen: {
    verb: 'Open again',
    effect: (runs) => `${runs.length === 1 ? 'It waits' : 'They wait'} for people again.${onlyNeeding(runs)}`,
  },
  mark: {
    verb: 'Mark',
    effect: () => 'Marks calibrate the agents. A mark that a run already has is replaced.',
  },
  cancel: {
    verb: 'Cancel',
    effect: (runs) => {
      const active = runs.filter(({ status }) => isActive(status)).length;
      return `Stops ${plural(active, 'run')} that ${active === 1 ? 'has' : 'have'} not ended. Completed steps are kept.`;
    },
  },
  rerun: { verb: 'Rerun', effect: costOfReruns },
};

export const isAction = (text: unknown): text is Action => typeof text === 'string' && Object.hasOwn(LOOKS, text);

/** What the runs spent before is the best estimate of what they will spend. */
function costOfReruns(runs: readonly RunLine[], currency: string): string {
  const tokens = runs.reduce((sum, run) => sum + run.input_tokens + run.output_tokens, 0);
  const costs = runs.map(({ cost }) => cost).filter((cost) => cost !== null);
  const cost = costs.length === 0 ? null : costs.reduce((sum, one) => sum + one, 0);
  const unpriced = runs.reduce((sum, run) => sum + run.unpriced_steps, 0);
  const price = cost === null ? '' : `, ${costCell(cost, unpriced, currency).text}`;
  return `Starts a new run for each with the definition as it is now, and asks its agents again: before, they spent about ${count(tokens)} tokens${price}.`;
}

interface Asked {
  action: Action;
  runs: readonly RunLine[];
  now: number;
  currency: string;
  /** The list that they were chosen in. */
  back: string;
}

/** What the action will do to the chosen runs, with its fields. */
export function bulkView({ action, runs, now, currency, back }: Asked) {
  const { verb, effect } = LOOKS[action];
  const title = `${verb} ${plural(runs.length, 'run')}`;
  return {
    title,
    effect: effect(runs, currency),
    action,
    button: action === 'cancel' ? 'danger' : 'primary',
    path: paths.runsBulk(),
    undoPath: paths.runsBulkUndo(),
    back,
    undo: [] as { name: string; id: string }[],
    fields: {
      assignee: action === 'acknowledge',
      resolution: action === 'resolve',
      outcome: action === 'mark',
      note: action === 'acknowledge' || action === 'resolve' || action === 'reopen',
    },
    resolutions: Object.entries(RESOLUTION_WORDS).map(([value, label]) => ({ value, label })),
    rows: runs.map((run) => ({ ...runRow(run, { now, currency }), problem: null, started: null })),
    form: true,
    command: commandOf(action, runs),
  };
}

const CHOICE: Partial<Record<Action, object>> = {
  resolve: { resolution: 'false_alarm' },
  mark: { outcome: 'correct' },
};

const commandOf = (action: Action, runs: readonly RunLine[]): Call => ({
  label: 'Copy as curl',
  path: apiPath('runs', 'bulk'),
  body: { action, ...CHOICE[action], run_ids: runs.map(({ id }) => id) },
});

const DONE: Record<Action, string> = {
  acknowledge: 'acknowledged',
  resolve: 'resolved',
  reopen: 'opened again',
  mark: 'marked',
  cancel: 'cancelled',
  rerun: 'started again',
};

/** What became of each. */
export function doneView({ results }: BulkResults, asked: Asked, before: readonly RunLine[]) {
  const by = new Map(results.map((result) => [result.run_id, result]));
  const done = results.filter(({ ok }) => ok).length;
  const refused = results.length - done;
  const rest = refused === 0 ? '' : `, ${refused} refused`;
  return {
    ...bulkView(asked),
    form: false,
    undo:
      asked.action !== 'mark'
        ? []
        : before
            .filter(({ id }) => by.get(id)?.ok)
            .map(({ id, feedback_outcome: outcome }) => ({ name: outcome ?? 'run', id })),
    title: `${plural(done, 'run')} ${DONE[asked.action]}${rest}`,
    effect: refused === 0 ? '' : 'The reason stands beside each run that was refused.',
    rows: asked.runs.map((run) => {
      const result = by.get(run.id);
      const started = result?.started_run_id;
      return {
        ...runRow(run, asked),
        problem: result?.detail?.message ?? null,
        started: started === undefined ? null : paths.run(started),
      };
    }),
  };
}
