import type { Registry } from './registry.ts';

/** The same registry, which also announces its changes to the other replicas. A reload that changes nothing is not announced. */
export function spreadChanges(registry: Registry, spread: () => Promise<unknown>): Registry {
  const telling = async <T>(work: () => Promise<T>): Promise<T> => {
    const before = registry.current().hash;
    const result = await work();
    if (registry.current().hash !== before) await spread();
    return result;
  };
  return {
    ...registry,
    reload: () => telling(registry.reload),
    change: (job) => telling(() => registry.change(job)),
  };
}
