import { getHeapStatistics } from 'node:v8';
import { MAX_FRAME_BYTES, MAX_FRAME_VALUES } from '@signalbox/crds';
import { keylessModels } from '../agents/validate.ts';
import { createMethods } from '../rpc/methods.ts';
import { createRequestRoom } from '../rpc/request-room.ts';
import { RpcServer } from '../rpc/rpc-server.ts';
import type { Submitted } from '../runs/submitted.ts';
import type { Stages, OpenedAgents } from './stages.ts';

/** Of calls whose runs go on. A byte may be a character, which takes two in the heap. */
const CALL_BYTES = getHeapStatistics().heap_size_limit / 8;

/** `/rpc`, not attached to a port yet. */
export function openRpc({ config, version, agents, runs, metrics, access }: Omit<Stages, 'reload'>): RpcServer {
  const counted = <Answer extends Submitted | null>(submitted: Answer): Answer => {
    if (submitted?.ok === false) metrics.runRefused(submitted.type);
    return submitted;
  };
  const methods = createMethods({
    version,
    listAgents: () => listAgents(agents),
    takeRoom: createRequestRoom(CALL_BYTES),
    join: (params, watcher) => counted(runs.join(params, watcher)),
    submit: async (params, watcher) => counted(await runs.submit(params, watcher)),
    find: (reference, watcher) => runs.find(reference, watcher),
    cancel: (run, message) => runs.cancel(run, message),
  });
  return new RpcServer({
    ...access,
    allowedOrigins: config.server.allowed_origins,
    maxFrameBytes: MAX_FRAME_BYTES,
    maxFrameValues: MAX_FRAME_VALUES,
    call: methods,
    onGone: (watcher) => runs.unwatch(watcher),
  });
}

function listAgents({ registry, known }: OpenedAgents) {
  return registry.list().map(({ name, config, version }) => {
    const { model, description, tags } = config;
    const warnings = keylessModels(config, known).map(({ field, message }) => `${field}: ${message}`);
    return { name, model, description, tags, version, ...(warnings.length > 0 ? { warnings } : {}) };
  });
}
