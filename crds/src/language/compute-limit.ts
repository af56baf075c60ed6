/** Why something was not computed: it took longer, or more memory, than is allowed (`security.compute_timeout_ms`). */
export interface ComputeLimit {
  ok: false;
  reason: 'compute_limit';
  msg: string;
  /** It was not its own fault, so another try may succeed. */
  passing?: true;
}

export const computeLimit = (msg: string): ComputeLimit => ({ ok: false, reason: 'compute_limit', msg });
export const passingLimit = (msg: string): ComputeLimit => ({ ...computeLimit(msg), passing: true });

export const tooMuchProcessor = (ms: number): ComputeLimit =>
  computeLimit(`it takes more than ${ms} ms of the processor (security.compute_timeout_ms)`);

export const isComputeLimit = (result: { ok: boolean }): result is ComputeLimit =>
  'reason' in result && result.reason === 'compute_limit';
