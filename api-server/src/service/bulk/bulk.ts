import { AppError, ERROR_STATUS } from '@signalbox/crds';
import { z } from 'zod';
import type { Actor } from '../actor.ts';
import { Acknowledgement, type Escalations, Reopening, RunResolution } from '../attention/attention.ts';
import { type Feedback, Mark } from '../feedback/feedback.ts';
import { line, RunId } from '../fields.ts';
import type { Runs } from '../runs/runs.ts';
import { component } from '../views/answer.ts';

/** Runs that one request may name. */
export const MAX_RUNS = 200;
const named = { run_ids: z.array(RunId).min(1).max(MAX_RUNS) };
const EXAMPLE_ID = '01a1febd-87d9-73c1-984a-8e11a3329cb6';

/** One action for many runs, with the body keys of that action for one run. */
export const BulkAction = component(
  'BulkAction',
  z.discriminatedUnion('action', [
    z.strictObject({ ...named, action: z.literal('acknowledge'), ...Acknowledgement.shape }),
    z.strictObject({ ...named, action: z.literal('resolve'), ...RunResolution.shape }),
    z.strictObject({ ...named, action: z.literal('reopen'), ...Reopening.shape }),
    z.strictObject({ ...named, action: z.literal('mark'), ...Mark.shape }),
    z.strictObject({ ...named, action: z.literal('cancel') }),
    z.strictObject({ ...named, action: z.literal('rerun'), from_step: line().nullish() }),
  ]),
  { action: 'resolve', run_ids: [EXAMPLE_ID], resolution: 'false_alarm', note: 'A planned restart.' },
);
export type BulkAction = z.output<typeof BulkAction>;

export const BulkResults = component(
  'BulkResults',
  z.strictObject({
    /** In the order that was asked for. */
    results: z.array(
      z.strictObject({
        run_id: z.string(),
        ok: z.boolean(),
        /** What the same request for this run alone answers. */
        status_code: z.int(),
        detail: z.looseObject({ type: z.string(), message: z.string() }).optional(),
        /** Of a rerun: the new run. */
        started_run_id: z.string().optional(),
      }),
    ),
  }),
  {
    results: [
      { run_id: EXAMPLE_ID, ok: true, status_code: 200 },
      {
        run_id: '01a1febe-0d12-7a30-bd62-26d4a1f0c7aa',
        ok: false,
        status_code: 409,
        detail: { type: 'conflict', message: 'the run is resolved already, by on-call' },
      },
    ],
  },
);
export type BulkResults = z.infer<typeof BulkResults>;

export interface BulkDeps {
  runs: Pick<Runs, 'cancel' | 'rerun'>;
  feedback: Pick<Feedback, 'markRun'>;
  escalations: Pick<Escalations, 'acknowledge' | 'resolve' | 'reopen'>;
}

/** Does to each run what the request for it alone does, one after the other; one that is refused stops none of the others. */
export type Bulk = (asked: BulkAction, actor: Actor) => Promise<BulkResults>;

export const createBulk =
  (deps: BulkDeps): Bulk =>
  async (asked, actor) => {
    const results: BulkResults['results'] = [];
    for (const id of asked.run_ids) {
      try {
        results.push({ run_id: id, ok: true, ...(await actOn(deps, { id, asked, actor })) });
      } catch (error) {
        if (!(error instanceof AppError) || error.type === 'internal') throw error;
        const { type, message } = error;
        results.push({ run_id: id, ok: false, status_code: ERROR_STATUS[type], detail: { type, message } });
      }
    }
    return { results };
  };

interface One {
  id: string;
  asked: BulkAction;
  actor: Actor;
}

async function actOn(
  { runs, feedback, escalations }: BulkDeps,
  { id, asked, actor }: One,
): Promise<{ status_code: number; started_run_id?: string }> {
  switch (asked.action) {
    case 'acknowledge':
      await escalations.acknowledge(id, asked, actor);
      return { status_code: 200 };
    case 'resolve':
      await escalations.resolve(id, asked, actor);
      return { status_code: 200 };
    case 'reopen':
      await escalations.reopen(id, asked, actor);
      return { status_code: 200 };
    case 'mark':
      await feedback.markRun(id, { outcome: asked.outcome, notes: asked.notes }, actor);
      return { status_code: 200 };
    case 'cancel':
      await runs.cancel(id, actor);
      return { status_code: 202 };
    case 'rerun':
      return { status_code: 202, started_run_id: (await runs.rerun(id, asked.from_step ?? null, actor)).run_id };
    default:
      return asked satisfies never;
  }
}
