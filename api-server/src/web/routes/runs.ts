import { AppError } from '@signalbox/crds';
import { z } from 'zod';
import { RUN_STATUSES, STAGES } from '../../runs/state/model.ts';
import type { PageOfRuns, RunFilter, RunList } from '../../store/tables/list-runs.ts';
import type { RunDetail } from '../../store/tables/run-detail.ts';
import { auditBy, type AuditDeps, cancelDeed } from '../auth/audit-by.ts';
import { count, idOf, Instant, line, RunId, unknownId } from '../fields.ts';
import { route, type Route } from '../route.ts';
import { runDetailView, runLine } from '../../service/views/views.ts';

export interface RunRoutesDeps extends AuditDeps {
  listRuns(filter: RunFilter, page: PageOfRuns): Promise<RunList>;
  runDetail(id: string, include: { raw: boolean }): Promise<RunDetail | null>;
  cancel(runId: string, by: string): Promise<'cancelled' | 'not_found' | 'ended'>;
}

/** One status, several separated by commas, or the parameter repeated. */
const StatusFilter = z.preprocess(
  (value) => [value].flat().flatMap((text) => (typeof text === 'string' ? text.split(',') : [text])),
  z.array(z.enum(RUN_STATUSES)).max(RUN_STATUSES.length),
);

const LabelFilter = line(512).transform((text, context) => {
  const at = text.search(/[:=]/);
  if (at > 0) return { key: text.slice(0, at), value: text.slice(at + 1) };
  context.addIssue({ code: 'custom', message: 'must be key:value' });
  return z.NEVER;
});

const Cursor = z
  .string()
  .regex(/^r\d{1,15}$/, 'is not a cursor of this list')
  .transform((text) => Number(text.slice(1)));

const RunsQuery = z
  .strictObject({
    status: StatusFilter.optional(),
    pipeline: line().optional(),
    team: line().optional(),
    stage: z.enum(STAGES).optional(),
    severity: line().optional(),
    q: line().optional(),
    source: line().optional(),
    fingerprint: line(1024).optional(),
    label: z
      .preprocess((value) => (typeof value === 'string' ? [value] : value), z.array(LabelFilter).max(10))
      .optional(),
    since: Instant.optional(),
    until: Instant.optional(),
    agent: line().optional(),
    model: line().optional(),
    parent: RunId.optional(),
    limit: count(1, 200).default(50),
    offset: count(0, 1_000_000_000).default(0),
    cursor: Cursor.optional(),
  })
  .refine((query) => query.cursor === undefined || query.offset === 0, {
    path: ['cursor'],
    message: 'cannot go with offset',
  });

const ById = z.strictObject({ id: idOf('run') });

/** Runs as they are stored (Orchestration 4.2, Design 5). */
export const runRoutes = ({ listRuns, runDetail, cancel, ...rest }: RunRoutesDeps): Route[] => [
  route({
    method: 'GET',
    url: '/runs',
    role: 'viewer',
    summary: 'Runs, newest first',
    query: RunsQuery,
    handler: async ({ query: { limit, offset, cursor, label, ...filter } }) => {
      const list = await listRuns({ ...filter, labels: label }, { limit, offset, before: cursor });
      return {
        runs: list.runs.map(runLine),
        limit,
        offset,
        total: list.total,
        ...(list.totalIsLowerBound ? { total_is_lower_bound: true } : {}),
        next_cursor: list.next === null ? null : `r${list.next}`,
      };
    },
  }),
  route({
    method: 'GET',
    url: '/runs/:id',
    role: 'viewer',
    summary: 'One run with its steps and marks',
    params: ById,
    query: z.strictObject({ include: z.literal('raw').optional() }),
    handler: async ({ params, query }) => {
      const detail = await runDetail(params.id, { raw: query.include === 'raw' });
      if (!detail) throw unknownId('run');
      return runDetailView(detail);
    },
  }),
  route({
    method: 'POST',
    url: '/runs/:id/cancel',
    role: 'operator',
    summary: 'Cancel a run that has not ended',
    params: ById,
    handler: async (call) => {
      const { params, caller, reply } = call;
      const result = await cancel(params.id, caller.name);
      if (result === 'not_found') throw unknownId('run');
      if (result === 'ended') throw new AppError('conflict', 'the run has ended');
      await auditBy(rest, call)(cancelDeed(params.id));
      return reply.code(202).send({ status: 'cancelled', run_id: params.id });
    },
  }),
];
