import type { Target } from './services.ts';

export interface Pair<T> {
  bare: T;
  service: T;
}

/**
 * Measures both in turn, A B A B, so that a slow moment of the machine hits both; the first round of each warms up and is
 * not kept. Ends both processes.
 */
export async function alternate<T>(
  targets: Pair<Target>,
  rounds: number,
  measure: (target: Target) => Promise<T>,
): Promise<Pair<T[]>> {
  const results: Pair<T[]> = { bare: [], service: [] };
  try {
    for (let round = 0; round <= rounds; round++) {
      const pair = {
        bare: await measure(targets.bare),
        service: await measure(targets.service),
      };
      if (round === 0) continue;
      results.bare.push(pair.bare);
      results.service.push(pair.service);
    }
    return results;
  } finally {
    await Promise.all([targets.bare.process.stop(), targets.service.process.stop()]);
  }
}
