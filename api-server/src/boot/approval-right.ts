import type { Logs } from '../observability/logger.ts';
import type { AgentBackend } from '../runs/state/executor.ts';

/** The gateway is asked until it answers, and after that because its tokens may change with a restart of it. */
const ASK_EVERY_MS = 60_000;
const PROBLEM =
  'executors.gateway.token is not the approve token of the gateway: tool calls that need an approval will be denied; use GATEWAY_APPROVE_TOKEN';

/** Watches whether the gateway has an approve token and this service another one: then no person can allow a tool call. */
export interface ApprovalRight {
  watch(): void;
  /** For `/health`. */
  warnings(): string[];
  close(): void;
}

export function createApprovalRight(backends: readonly AgentBackend[], log: Logs['log']): ApprovalRight {
  const gateway = backends.find(({ name }) => name === 'gateway');
  const closing = new AbortController();
  let denied = false;
  let timer: NodeJS.Timeout | undefined;
  const ask = async () => {
    const patience = AbortSignal.timeout(ASK_EVERY_MS - 1000);
    const right = await gateway?.approvals(AbortSignal.any([closing.signal, patience]));
    // Nothing is known where it does not answer.
    if (right === null || right === undefined) return;
    if (right === 'none' && !denied) log.warn(PROBLEM);
    denied = right === 'none';
  };
  return {
    watch: () => {
      if (!gateway) return;
      void ask();
      timer = setInterval(() => void ask(), ASK_EVERY_MS).unref();
    },
    warnings: () => (denied ? [PROBLEM] : []),
    close: () => {
      clearInterval(timer);
      closing.abort();
    },
  };
}
