import type { Logs } from '../observability/logger.ts';
import type { AgentBackend } from '../runs/state/executor.ts';

const PATIENCE_MS = 60_000;

/** Warns where the gateway has an approve token and this service another one: then no person can allow a tool call. */
export async function warnOfApprovalRight(backends: readonly AgentBackend[], log: Logs['log']): Promise<void> {
  const gateway = backends.find(({ name }) => name === 'gateway');
  const right = await gateway?.approvals(AbortSignal.timeout(PATIENCE_MS));
  if (right === 'none')
    log.warn(
      'executors.gateway.token is not the approve token of the gateway: tool calls that need an approval will be denied; use GATEWAY_APPROVE_TOKEN',
    );
}
