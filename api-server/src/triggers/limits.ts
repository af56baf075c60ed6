import { limitedNamespace } from '@signalbox/crds';
import { bytesToHold } from '../runs/state/held.ts';
import type { RunRequest } from '../runs/state/new-run.ts';
import type { IntakeDeps } from './intake-deps.ts';
import { NO_MEMORY } from './no-room.ts';
import { overTenantLimit } from './tenant-limits.ts';

/** The limits of all runs and of namespaces for the runs of one delivery, of which none has begun. */
export interface Limits {
  /** Why this run may not start now, or null: then it counts for those that are asked about after it. */
  over(request: RunRequest): Promise<string | null>;
}

export function createLimits<Tx>(
  { tenantLoad, isFull }: Pick<IntakeDeps<Tx>, 'tenantLoad' | 'isFull'>,
  tx: Tx,
  now: number,
): Limits {
  const runs = new Map<string | null, number>();
  const bytes = new Map<string | null, number>();
  let all = 0;
  let last: RunRequest | null = null;
  // Once another run is asked about: most deliveries have one.
  const countLast = () => {
    if (!last || !isFull) return;
    const namespace = limitedNamespace(last.pipeline.standing);
    const size = bytesToHold(last.context);
    bytes.set(namespace, (bytes.get(namespace) ?? 0) + size);
    all += size;
    last = null;
  };
  return {
    over: async (request) => {
      const namespace = limitedNamespace(request.pipeline.standing);
      countLast();
      if (isFull?.(namespace, { all, own: bytes.get(namespace) ?? 0 })) return NO_MEMORY;
      const also = runs.get(namespace) ?? 0;
      const over = await overTenantLimit(tenantLoad, tx, request.pipeline, { now, also });
      if (over !== null) return over;
      runs.set(namespace, also + 1);
      last = request;
      return null;
    },
  };
}
