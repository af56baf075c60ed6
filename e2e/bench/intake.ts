import { join } from 'node:path';
import { type Benchmark, median, otherAnswers, perSecond } from './benchmark.ts';
import { drained, MAX_RUNS, startBareServer, type Target } from './services.ts';
import type { LoadResult } from './load.ts';

const CONNECTIONS = 50;
const BURSTS_EACH_ROUND = 4;

/**
 * Webhooks accepted a second, in bursts that fill the capacity (`max_runs`) and are then let run to their end. While a
 * burst lasts the gateway holds its answers: every run starts and waits, so that intake is measured and not the runs.
 */
export const intake: Benchmark = {
  name: 'intake',
  about: `webhooks accepted and stored a second, ${CONNECTIONS} connections, unique keys, bursts of ${MAX_RUNS}`,
  async run({ startService, directory, gateway, load, rounds, progress }) {
    const bare = await startBareServer(join(directory, 'bare'));
    const service = await startService(join(directory, 'service'), gateway.url);
    const results = new Map<Target, LoadResult[]>([
      [bare, []],
      [service, []],
    ]);
    try {
      for (let round = 0; round <= rounds; round++) {
        for (const target of [bare, service]) {
          const bursts: LoadResult[] = [];
          for (let burst = 0; burst < BURSTS_EACH_ROUND; burst++) {
            await gateway.hold(true);
            bursts.push(await load.run(target, { connections: CONNECTIONS, amount: { requests: MAX_RUNS } }));
            await gateway.hold(false);
            await drained(target);
          }
          if (round > 0) results.get(target)?.push(...bursts);
          progress(`${target.name} ${perSecond(median(bursts.map(rate)))}${round === 0 ? ' (warm-up)' : ''}`);
        }
      }
    } finally {
      await gateway.hold(false);
      await Promise.all([bare.process.stop(), service.process.stop()]);
    }
    const [limit = 0, ours = 0] = [bare, service].map((target) => median((results.get(target) ?? []).map(rate)));
    const others = otherAnswers((results.get(service) ?? []).map(({ answers }) => answers));
    return [
      {
        what: 'intake against the bare server',
        value: ours / limit,
        unit: 'x',
        limit: { direction: 'least', bound: 0.4, aim: 0.6 },
        detail: `${perSecond(ours)} against ${perSecond(limit)}${others}`,
      },
    ];
  },
};

const rate = ({ accepted, seconds }: LoadResult): number => accepted / seconds;
