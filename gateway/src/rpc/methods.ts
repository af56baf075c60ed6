import {
  AgentAttachParams,
  AgentCancelParams,
  AgentRunParams,
  type AgentsList,
  plainIssues,
  rpcError,
  type RpcRequest,
  type ServerInfo,
} from '@signalbox/crds';
import { z } from 'zod';
import type { Run, RunWatcher } from '../runs/run.ts';
import { type Submitted, watched } from '../runs/submitted.ts';
import type { RpcAnswer, RpcReply } from './one-frame.ts';
import { freeing, NO_ROOM, type TakeRoom } from './request-room.ts';

/** The operations that the methods call. */
export interface MethodDeps {
  version: string;
  listAgents: () => AgentsList['agents'];
  /** For what a call holds until its run ends. One that joins a run holds nothing, nor does another request. */
  takeRoom?: TakeRoom;
  /** Answers a call that has the key of a run at once; null where it has none. */
  join: (params: AgentRunParams, watcher: RunWatcher) => Submitted | null;
  submit: (params: AgentRunParams, watcher: RunWatcher) => Submitted | Promise<Submitted>;
  find: (reference: AgentAttachParams, watcher: RunWatcher) => Run | undefined;
  cancel: (run: Run, message: string) => boolean;
}

type Method = (params: unknown, watcher: RunWatcher, bytes: number) => Promise<RpcAnswer> | RpcAnswer;
/** `bytes` that the request takes once it is read. */
export type CallMethod = (request: RpcRequest, watcher: RunWatcher, bytes: number) => Promise<RpcAnswer>;

const NoParams = z.strictObject({}).optional();

/** The methods of `/rpc`. */
export function createMethods(deps: MethodDeps): CallMethod {
  const methods = new Map<string, Method>();
  const info = (): ServerInfo => ({
    name: 'signalbox-gateway',
    version: deps.version,
    protocol: 1,
    methods: [...methods.keys()],
  });

  const submitted = async (params: AgentRunParams, watcher: RunWatcher) => answerOf(await deps.submit(params, watcher));

  methods.set(
    'server.info',
    checked(NoParams, (_, { approves }) => ok({ ...info(), approvals: approves })),
  );
  methods.set(
    'ping',
    checked(NoParams, () => ok({ pong: true })),
  );
  methods.set(
    'agents.list',
    checked(NoParams, () => ok({ agents: deps.listAgents() })),
  );
  methods.set(
    'agent.run',
    checked(AgentRunParams, (params, watcher, bytes) => {
      const joined = deps.join(params, watcher);
      if (joined) return answerOf(joined);
      if (!deps.takeRoom) return submitted(params, watcher);
      const free = deps.takeRoom(params, watcher, bytes);
      return free ? freeing(submitted(params, watcher), free) : NO_ROOM;
    }),
  );
  methods.set(
    'agent.attach',
    checked(AgentAttachParams, (reference, watcher) => {
      const run = deps.find(reference, watcher);
      return run ? answerOf(watched(run, watcher, true)) : notFound();
    }),
  );
  methods.set(
    'agent.cancel',
    checked(AgentCancelParams, (reference, watcher) => {
      const run = deps.find(reference, watcher);
      return run ? ok({ cancelled: deps.cancel(run, 'cancelled by the caller') }) : notFound();
    }),
  );

  return async (request, watcher, bytes) => {
    const method = methods.get(request.method);
    return method
      ? method(request.params, watcher, bytes)
      : {
          ok: false,
          error: rpcError(
            'method_not_found',
            `there is no method "${request.method}"; available: ${[...methods.keys()].join(', ')}`,
          ),
        };
  };
}

function checked<Schema extends z.ZodType>(
  schema: Schema,
  handle: (params: z.output<Schema>, watcher: RunWatcher, bytes: number) => Promise<RpcAnswer> | RpcAnswer,
): Method {
  return (params, watcher, bytes) => {
    const parsed = schema.safeParse(params);
    if (parsed.success) return handle(parsed.data, watcher, bytes);
    const errors = plainIssues(parsed.error.issues)
      .slice(0, 10)
      .map(({ path, msg }) => ({ field: path.join('.'), message: msg }));
    const [{ field, message } = { field: '', message: 'not valid' }] = errors;
    const where = field === '' ? 'params' : `params.${field}`;
    return { ok: false, error: rpcError('invalid_params', `${where}: ${message}`, { errors }) };
  };
}

function ok(result: unknown): RpcReply {
  return { ok: true, result };
}

function answerOf(submitted: Submitted): RpcAnswer {
  if (!submitted.ok) return refused(submitted);
  const { answer, joined, run } = submitted;
  return { later: answer, held: joined ? null : run.finished };
}

function refused({ type, message, retryAfterMs }: Extract<Submitted, { ok: false }>): RpcReply {
  const error = rpcError(type, message, retryAfterMs === undefined ? {} : { retry_after_ms: retryAfterMs });
  return { ok: false, error };
}

function notFound(): RpcReply {
  return {
    ok: false,
    error: rpcError('not_found', 'there is no such run; a run is kept for at most one hour after its end'),
  };
}
