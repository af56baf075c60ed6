import { type ToolApprovalParams, ToolApprovalResult } from '@signalbox/crds';
import type { RunWatcher } from '../runs/run.ts';
import type { Connection } from './connection.ts';

/** A connection as the watcher of its runs: events as notifications, approvals as requests to the client. */
export function watcherOf(connection: Connection): RunWatcher {
  return {
    event(run, event) {
      const { idempotency_key } = run.params;
      connection.notify('agent.event', { run_id: run.id, ts: new Date().toISOString(), idempotency_key, ...event });
    },
    ask: (method, params, signal) => connection.request(method, params, signal),
    async requestApproval(run, request, signal) {
      const params: ToolApprovalParams = {
        run_id: run.id,
        agent: run.params.agent,
        metadata: run.params.metadata,
        ...request,
      };
      const response = await connection.request('tool.request_approval', params, signal);
      if (response.error) return { approved: false, comment: 'the caller cannot decide about approvals' };
      const decision = ToolApprovalResult.safeParse(response.result);
      return decision.success ? decision.data : { approved: false, comment: 'the decision could not be read' };
    },
  };
}
