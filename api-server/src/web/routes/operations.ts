import { AppError, errorBody } from '@signalbox/crds';
import { z } from 'zod';
import type { Verdict } from '../../triggers/model.ts';
import type { ListedSchedule } from '../../schedules/scheduler.ts';
import type { AuditEntry } from '../../store/tables/audit.ts';
import { idOf, line, unknownId } from '../fields.ts';
import { route, type Route } from '../route.ts';

/** A rerun has no fingerprint and its pipeline was found, so it starts, waits, or finds no room. */
export type RerunVerdict = Extract<Verdict, { status: 'accepted' | 'queued' | 'at_capacity' }>;

/** What became of a rerun: started with the results of earlier steps, refused, or not possible. */
export type RerunResult =
  | { kind: 'started'; verdict: RerunVerdict; fromStep: string | null; priorSteps: number }
  | { kind: 'not_found' | 'running' | 'suspended' }
  | { kind: 'invalid'; message: string };

export interface OperationRoutesDeps {
  rerun(runId: string, fromStep: string | null): Promise<RerunResult>;
  schedules(): ListedSchedule[];
  /** Null where there is no such artifact, or none are kept. */
  artifact(runId: string, stepName: string, name: string): Promise<Buffer | null>;
  audit(entry: AuditEntry): Promise<void>;
  now(): number;
}

const ById = z.strictObject({ id: idOf('run') });

/** Reruns, schedules and artifacts (Orchestration 4.1, 4.2, Design 5). */
export const operationRoutes = (deps: OperationRoutesDeps): Route[] => [
  route({
    method: 'POST',
    url: '/runs/:id/rerun',
    role: 'operator',
    summary: 'Run again with the current definition, from the start or from a top-level step',
    params: ById,
    body: z.strictObject({ from_step: line().nullish() }).nullish(),
    handler: async ({ params: { id }, body, caller, request, reply }) => {
      const result = await deps.rerun(id, body?.from_step ?? null);
      if (result.kind !== 'started') throw refusal(result);
      const { verdict, fromStep, priorSteps } = result;
      if (verdict.status === 'at_capacity') return atCapacity(reply, verdict);
      await deps.audit({
        ts: deps.now(),
        actor: caller.name,
        actorKind: 'token',
        role: caller.role,
        action: 'rerun',
        targetType: 'run',
        target: id,
        runId: verdict.runId,
        outcome: verdict.status,
        priorYaml: null,
        requestId: request.id,
      });
      const answer = {
        run_id: verdict.runId,
        original_run_id: id,
        from_step: fromStep,
        prior_steps_loaded: priorSteps,
      };
      return reply.code(202).send({ status: verdict.status, ...answer });
    },
  }),
  route({
    method: 'GET',
    url: '/schedules',
    role: 'viewer',
    summary: 'Pipelines that run by the clock, with their next run',
    handler: () => ({ schedules: deps.schedules() }),
  }),
  route({
    method: 'GET',
    url: '/runs/:id/artifacts',
    role: 'viewer',
    summary: 'The text of one artifact',
    params: ById,
    query: z.strictObject({ step: line(512), name: line(512) }),
    handler: async ({ params, query, reply }) => {
      const found = await deps.artifact(params.id, query.step, query.name);
      if (!found) throw new AppError('not_found', 'there is no such artifact, or its time is over');
      // Text whatever the agent wrote: nothing an agent says is rendered by a browser.
      return reply
        .header('content-type', 'text/plain; charset=utf-8')
        .header('x-content-type-options', 'nosniff')
        .send(found);
    },
  }),
];

function refusal(result: Exclude<RerunResult, { kind: 'started' }>): AppError {
  switch (result.kind) {
    case 'not_found':
      return unknownId('run');
    case 'running':
      return new AppError('conflict', 'the run has not ended; cancel it first');
    case 'suspended':
      return new AppError('conflict', 'the pipeline is suspended; resume it first');
    case 'invalid':
      return new AppError('validation', result.message);
    default:
      return result satisfies never;
  }
}

function atCapacity(
  reply: Parameters<Route['handle']>[1],
  { message, activeRuns, maxConcurrentRuns, retryAfterSeconds }: Extract<Verdict, { status: 'at_capacity' }>,
): unknown {
  return reply
    .code(429)
    .header('retry-after', String(retryAfterSeconds))
    .send({ ...errorBody('at_capacity', message), active_runs: activeRuns, max_concurrent_runs: maxConcurrentRuns });
}
