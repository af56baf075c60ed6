import { z } from 'zod';
import { DefinitionName, idOf, line } from '../../service/fields.ts';
import { ReplayLaunch } from '../../service/replay/bodies.ts';
import type { Services } from '../../service/services.ts';
import { ReplayLaunched, ReplayReport } from '../../service/views/replay.ts';
import { ReplayEstimate } from '../../service/views/replay-estimate.ts';
import { unprocessable } from '../errors.ts';
import { Anything, type Call, route, type Route } from '../route.ts';

const ByStep = z.strictObject({ step_name: DefinitionName });
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
      refusals: ['forbidden', 'not_found', 'conflict', 'unprocessable', 'unavailable'],
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
      handler: ({ params, body, request }) =>
        replays.estimate(params.step_name, read(ReplayLaunch, body), request.signal),
    }),
    route({
      method: 'GET',
      url: '/replays/:id/report',
      role: 'viewer',
      id: 'getReplayReport',
      tag: 'replay',
      summary: 'How the candidate of a replay did, computed for this answer',
      params: ByRun,
      answers: { 200: ReplayReport },
      refusals: ['not_found'],
      handler: ({ params }) => replays.report(params.id),
    }),
  ];
};

/** A client that leaves does not stop the batch; with a key it finds it again. */
function optionsOf({ request, actor }: Pick<Call<unknown, unknown, unknown>, 'request' | 'actor'>) {
  const sent = request.headers['idempotency-key'];
  if (sent === undefined) return { key: null, actor, signal: request.signal };
  const key = Key.safeParse(sent);
  if (!key.success) throw unprocessable(key.error, ['header', 'Idempotency-Key']);
  return { key: key.data, actor, signal: request.signal };
}
