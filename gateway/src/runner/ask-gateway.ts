import type { Generated } from '../models/generate.ts';
import type { PolicyDecision } from '../policy/policy.ts';
import type { Run } from '../runs/run.ts';
import type { RunAgentDeps } from '../runs/run-agent.ts';
import type { DoorDeps } from '../runs/tool-door.ts';
import type { ToolOutcome } from '../tools/tool.ts';
import { ASKS } from './protocol.ts';

/** What a run in a pod asks its gateway for. */
export interface Gateway {
  generate: RunAgentDeps['generate'];
  decide: (call: { server: string; tool: string; input: string; callId: string }) => Promise<PolicyDecision>;
  call: DoorDeps['call'];
}

/**
 * The gateway behind a run. A question whose connection broke is asked again, under the same number, of whoever attaches
 * next; the gateway answers each number once, so no tool is called twice for it.
 */
export function gatewayOf(run: Run, signal: AbortSignal): Gateway {
  let asked = 0;
  async function ask<Answer>(method: string, question: object): Promise<Answer | string> {
    const params = { run: run.id, ask: (asked += 1), ...question };
    const response = await run.ask(
      (watcher) =>
        watcher.ask?.(method, params, signal) ?? Promise.reject(new Error('this connection answers nothing')),
      signal,
    );
    signal.throwIfAborted();
    return response.error ? response.error.message : (response.result as Answer);
  }
  return {
    generate: async ({ call }, { onText }) => {
      const answer = await ask<Generated>(ASKS.generate, { call, stream: onText !== undefined });
      if (typeof answer !== 'string') return answer;
      return { ok: false, failure: { message: answer, retryable: true, status: null, retryAfterMs: null } };
    },
    decide: async ({ callId, ...call }) => {
      const answer = await ask<PolicyDecision>(ASKS.authorize, { call_id: callId, ...call });
      return typeof answer === 'string' ? { action: 'deny', rule: null, reason: answer } : answer;
    },
    call: async (server, tool, input, { callId }) => {
      const answer = await ask<ToolOutcome>(ASKS.call, {
        call_id: callId ?? '',
        server,
        tool,
        input: JSON.stringify(input),
      });
      return typeof answer === 'string' ? { kind: 'unavailable', text: answer } : answer;
    },
  };
}
