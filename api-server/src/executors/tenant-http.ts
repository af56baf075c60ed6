import type { Author } from '../definitions/tenants.ts';
import type { AuthorHttp, HttpExecutor } from '../runs/state/executor.ts';
import { httpExecutor } from './http.ts';

/** Calls URLs of pipeline authors, each within the addresses of its run's namespace; `null` stands for those of the service. */
export function tenantHttp(
  egressAllow: readonly string[],
  egressAllowOf: (author: Author) => readonly string[] | null,
): AuthorHttp {
  const own = httpExecutor(egressAllow);
  const executors = new WeakMap<readonly string[], HttpExecutor>();
  return (call) => {
    const allow = egressAllowOf(call);
    if (allow === null) return own(call);
    const known = executors.get(allow) ?? httpExecutor(allow);
    executors.set(allow, known);
    return known(call);
  };
}
