import { type ToolApprovalParams, ToolApprovalResult } from '@signalbox/crds';
import type { ApprovalRight } from '../identity/authenticate.ts';
import type { Caller } from '../identity/caller.ts';
import type { RunWatcher } from '../runs/run.ts';
import type { Connection } from './connection.ts';

/** An approver must see the whole call. */
export const TOO_LARGE = 'the call is too large to be shown to its approver; call with a smaller input';

/** A connection as the watcher of its runs: events as notifications, approvals as requests to the client. */
export function watcherOf(connection: Connection, approves: ApprovalRight, caller: Caller): RunWatcher {
  return {
    approves,
    caller,
    event(_run, _event, text) {
      connection.notify('agent.event', text);
    },
    ask: (method, params, signal) => connection.request(method, params, signal),
    async requestApproval(run, request, signal) {
      const params: ToolApprovalParams = {
        run_id: run.id,
        agent: run.params.agent,
        metadata: run.params.metadata,
        ...request,
      };
      if (!connection.fits(params)) return { approved: false, comment: TOO_LARGE };
      const response = await connection.request('tool.request_approval', params, signal);
      if (response.error) return { approved: false, comment: 'the caller cannot decide about approvals' };
      const decision = ToolApprovalResult.safeParse(response.result);
      return decision.success ? decision.data : { approved: false, comment: 'the decision could not be read' };
    },
  };
}
