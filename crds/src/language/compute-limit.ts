/** Why something was not computed: it took longer, or more memory, than is allowed (`security.compute_timeout_ms`). */
export interface ComputeLimit {
  ok: false;
  reason: 'compute_limit';
  msg: string;
}

export const computeLimit = (msg: string): ComputeLimit => ({ ok: false, reason: 'compute_limit', msg });

export const isComputeLimit = (result: { ok: boolean }): result is ComputeLimit =>
  'reason' in result && result.reason === 'compute_limit';
