import { z } from 'zod';
import { DefinitionName, idOf, line } from '../../service/fields.ts';
import { ChainLaunch, ReplayLaunch } from '../../service/replay/bodies.ts';
import { GoldenReplay, ReplaysQuery } from '../../service/replay/batches.ts';
import { EXPORT_FORMATS, MEDIA_TYPES } from '../../service/exports/formats.ts';
import { exportRows } from '../../service/replay/export.ts';
import type { Services } from '../../service/services.ts';
import { ReplayLaunched } from '../../service/views/replay.ts';
import { ReplayBatchList, ReplayStarted } from '../../service/views/replay-batch.ts';
import { AnyReplayReport } from '../../service/views/replay-report.ts';
import { ReplayChainEstimate, ReplayEstimate } from '../../service/views/replay-estimate.ts';
import { clientLeft } from '../client-left.ts';
import { unprocessable } from '../errors.ts';
import { Anything, type Call, route, type Route } from '../route.ts';

const ByStep = z.strictObject({ step_name: DefinitionName });
const ByPipeline = z.strictObject({ name: DefinitionName });
const LAUNCH_REFUSALS = ['forbidden', 'not_found', 'conflict', 'unprocessable', 'at_capacity', 'unavailable'] as const;
const ByRun = z.strictObject({ id: idOf('replay') });
const Key = line(200);

/** Launches and reads replays (Orchestration 4.6). */
export const replayRoutes = ({ replays }: Pick<Services, 'replays'>): Route[] => {
  /** Without safe agents every request is refused, whatever its body says. */
  const read = <S extends z.ZodType>(schema: S, body: unknown): z.output<S> => {
    replays.requireOn();
    const asked = schema.safeParse(body);
    if (!asked.success) throw unprocessable(asked.error, ['body']);
    return asked.data;
  };
  return [
    route({
      method: 'GET',
      url: '/replays',
      role: 'viewer',
      id: 'listReplays',
      tag: 'replay',
      summary: 'Batches of replays with their progress, newest first; older ones with before',
      query: ReplaysQuery,
      answers: { 200: ReplayBatchList },
      handler: ({ query }) => replays.list(query),
    }),
    route({
      method: 'POST',
      url: '/steps/:step_name/replay/start',
      role: 'operator',
      id: 'startReplay',
      tag: 'replay',
      summary: 'Start a replay of recorded executions and answer at once; its report tells how far it is',
      params: ByStep,
      body: Anything,
      described: { body: ReplayLaunch },
      answers: { 202: ReplayStarted },
      refusals: LAUNCH_REFUSALS,
      handler: async (call) =>
        started(await replays.begin(call.params.step_name, read(ReplayLaunch, call.body), optionsOf(call))),
    }),
    route({
      method: 'POST',
      url: '/golden-sets/:id/replay',
      role: 'operator',
      id: 'replayGoldenSet',
      tag: 'replay',
      summary: 'Start a replay of every member of a golden set and answer at once; its report tells how far it is',
      params: z.strictObject({ id: idOf('golden set') }),
      body: Anything,
      described: { body: GoldenReplay },
      answers: { 202: ReplayStarted },
      refusals: LAUNCH_REFUSALS,
      handler: async (call) =>
        started(await replays.beginOnSet(call.params.id, read(GoldenReplay, call.body), optionsOf(call))),
    }),
    route({
      method: 'POST',
      url: '/steps/:step_name/replay',
      role: 'operator',
      id: 'replayStep',
      tag: 'replay',
      summary: 'Run recorded executions of a step again with a candidate; answers when every sample was attempted',
      params: ByStep,
      body: Anything,
      described: { body: ReplayLaunch },
      answers: { 200: ReplayLaunched },
      refusals: LAUNCH_REFUSALS,
      handler: (call) => replays.launch(call.params.step_name, read(ReplayLaunch, call.body), optionsOf(call)),
    }),
    route({
      method: 'POST',
      url: '/steps/:step_name/replay/estimate',
      role: 'operator',
      id: 'estimateReplay',
      tag: 'replay',
      summary: 'What a replay would cost; asks no model and creates no run',
      params: ByStep,
      body: Anything,
      described: { body: ReplayLaunch },
      answers: { 200: ReplayEstimate },
      refusals: ['forbidden', 'not_found', 'unprocessable', 'unavailable'],
      handler: ({ params, body, reply }) =>
        replays.estimate(params.step_name, read(ReplayLaunch, body), clientLeft(reply)),
    }),
    route({
      method: 'POST',
      url: '/pipelines/:name/replay',
      role: 'operator',
      id: 'replayChain',
      tag: 'replay',
      summary: 'Run a range of steps of recorded runs again, each step fed by the replayed ones before it',
      params: ByPipeline,
      body: Anything,
      described: { body: ChainLaunch },
      answers: { 200: ReplayLaunched },
      refusals: LAUNCH_REFUSALS,
      handler: (call) => replays.launchChain(call.params.name, read(ChainLaunch, call.body), optionsOf(call)),
    }),
    route({
      method: 'POST',
      url: '/pipelines/:name/replay/estimate',
      role: 'operator',
      id: 'estimateChainReplay',
      tag: 'replay',
      summary: 'What a replay of a range of steps would cost, step by step; asks no model and creates no run',
      params: ByPipeline,
      body: Anything,
      described: { body: ChainLaunch },
      answers: { 200: ReplayChainEstimate },
      refusals: ['forbidden', 'not_found', 'unprocessable', 'unavailable'],
      handler: ({ params, body, reply }) =>
        replays.estimateChain(params.name, read(ChainLaunch, body), clientLeft(reply)),
    }),
    route({
      method: 'GET',
      url: '/replays/:id/report',
      role: 'viewer',
      id: 'getReplayReport',
      tag: 'replay',
      summary: 'How the candidate of a replay did, computed for this answer',
      params: ByRun,
      answers: { 200: AnyReplayReport },
      refusals: ['not_found', 'unavailable'],
      handler: ({ params }) => replays.report(params.id),
    }),
    route({
      method: 'GET',
      url: '/replays/:id/export',
      role: 'viewer',
      id: 'exportReplay',
      tag: 'replay',
      summary: 'The rows of the report of a replay, as CSV or as lines of JSON',
      params: ByRun,
      query: z.strictObject({ format: z.enum(EXPORT_FORMATS) }),
      answers: { 200: { mediaType: 'text/csv', example: 'run_id,step_name,source_run_id\r\n' } },
      refusals: ['not_found', 'unavailable'],
      handler: async ({ params: { id }, query: { format }, reply }) =>
        reply
          .header('content-type', MEDIA_TYPES[format])
          .header('content-disposition', `attachment; filename="replay-${id}.${format}"`)
          .send(exportRows(await replays.report(id), format)),
    }),
  ];
};

const started = (run_id: string): ReplayStarted => ({ status: 'accepted', run_id });

/** A client that leaves does not stop the batch; with a key it finds it again. */
function optionsOf({ request, reply, actor }: Pick<Call<unknown, unknown, unknown>, 'request' | 'reply' | 'actor'>) {
  const signal = clientLeft(reply);
  const sent = request.headers['idempotency-key'];
  if (sent === undefined) return { key: null, actor, signal };
  const key = Key.safeParse(sent);
  if (!key.success) throw unprocessable(key.error, ['header', 'Idempotency-Key']);
  return { key: key.data, actor, signal };
}
