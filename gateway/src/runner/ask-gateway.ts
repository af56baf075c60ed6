import type { RpcError } from '@signalbox/crds';
import type { Generated } from '../models/generate.ts';
import type { PolicyDecision } from '../policy/policy.ts';
import type { Run } from '../runs/run.ts';
import type { RunAgentDeps } from '../runs/run-agent.ts';
import type { DoorDeps } from '../runs/tool-door.ts';
import type { ToolOutcome } from '../tools/tool.ts';
import { ASKS } from './protocol.ts';

/** The requests of a run in a pod to its gateway. */
export interface Gateway {
  generate: RunAgentDeps['generate'];
  decide: (call: { server: string; tool: string; input: string; callId: string }) => Promise<PolicyDecision>;
  call: DoorDeps['call'];
}

type Asked<Answer> = { ok: true; answer: Answer } | { ok: false; error: RpcError };

/**
 * The gateway of a run. A request whose connection broke is sent again, with the same number, over the next connection that
 * attaches; the gateway executes each number once, so no tool is called twice.
 */
export function gatewayOf(run: Run, signal: AbortSignal): Gateway {
  let count = 0;
  async function ask<Answer>(method: string, question: object): Promise<Asked<Answer>> {
    const params = { run: run.id, ask: (count += 1), ...question };
    const response = await run.ask(
      (watcher) =>
        watcher.ask?.(method, params, signal) ?? Promise.reject(new Error('this connection does not answer requests')),
      signal,
    );
    signal.throwIfAborted();
    return response.error ? { ok: false, error: response.error } : { ok: true, answer: response.result as Answer };
  }
  return {
    generate: async ({ call: { prompt, tools } }) => {
      const asked = await ask<Generated>(ASKS.generate, { call: { prompt, tools } });
      if (asked.ok) return asked.answer;
      const { message, data } = asked.error;
      // The same prompt is as large at a retry.
      const retryable = data?.type !== 'invalid_params';
      return { ok: false, failure: { message, retryable, status: null, retryAfterMs: null } };
    },
    decide: async ({ callId, ...call }) => {
      const asked = await ask<PolicyDecision>(ASKS.authorize, { call_id: callId, ...call });
      return asked.ok ? asked.answer : { action: 'deny', rule: null, reason: asked.error.message };
    },
    call: async (server, tool, input, { callId }) => {
      const asked = await ask<ToolOutcome>(ASKS.call, {
        call_id: callId ?? '',
        server,
        tool,
        input: JSON.stringify(input),
      });
      return asked.ok ? asked.answer : { kind: 'unavailable', text: asked.error.message };
    },
  };
}
