import { join } from 'node:path';
import { alternate } from './alternate.ts';
import { type BenchContext, type Benchmark, median, otherAnswers, perSecond } from './benchmark.ts';
import type { LoadResult } from './load.ts';
import { drained, MAX_RUNS, startBareServer, type Target } from './services.ts';

const CONNECTIONS = 50;
const BURSTS_EACH_ROUND = 4;

/**
 * Webhooks accepted a second, in bursts that fill the capacity (`max_runs`) and are then let run to their end. While a
 * burst lasts the gateway holds its answers: every run starts and waits, so that intake is measured and not the runs.
 */
export const intake: Benchmark = {
  name: 'intake',
  about: `webhooks accepted and stored per second, ${CONNECTIONS} connections, unique keys, bursts of ${MAX_RUNS}`,
  async run(context) {
    const { startService, directory, gateway, rounds } = context;
    const bare = await startBareServer(join(directory, 'bare'));
    const service = await startService(join(directory, 'service'), gateway.url);
    const results = await alternate({ bare, service }, rounds, (target) => oneRound(target, context));
    const limit = median(results.bare.flat().map(rate));
    const ours = median(results.service.flat().map(rate));
    const others = otherAnswers('service', results.service.flat());
    return [
      {
        what: 'intake compared with the bare server',
        value: ours / limit,
        unit: 'x',
        limit: { direction: 'least', bound: 0.4, aim: 0.6 },
        detail: `${perSecond(ours)} against ${perSecond(limit)}${others}`,
      },
    ];
  },
};

async function oneRound(target: Target, { gateway, load, progress }: BenchContext): Promise<LoadResult[]> {
  const bursts: LoadResult[] = [];
  for (let burst = 0; burst < BURSTS_EACH_ROUND; burst++) {
    await gateway.hold(true);
    bursts.push(await load.run(target, { connections: CONNECTIONS, amount: { requests: MAX_RUNS } }));
    await gateway.hold(false);
    await drained(target);
  }
  progress(`${target.name} ${perSecond(median(bursts.map(rate)))}`);
  return bursts;
}

const rate = ({ accepted, seconds }: LoadResult): number => accepted / seconds;
