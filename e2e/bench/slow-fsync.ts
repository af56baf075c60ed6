import { join } from 'node:path';
import { compileShim, shimEnvironment } from '../shim/shim.ts';
import { type Benchmark, median, otherAnswers, perSecond } from './benchmark.ts';
import type { LoadResult } from './load.ts';
import { drained, startBareServer, type Target } from './services.ts';

const FSYNC_DELAY_MICROSECONDS = 1000;

/** Shows that the fsync is shared: with a slow disk, many connections carry many times what one carries. */
export const slowFsync: Benchmark = {
  name: 'slow-fsync',
  about: 'throughput of 50 connections compared with one, with 1 ms added to every fsync',
  async run({ startService, directory, gateway, load, rounds, seconds, progress }) {
    const shim = compileShim();
    if (!shim.ok) return { leftOut: shim.reason };
    const env = shimEnvironment(shim.path, { fsyncDelayMicroseconds: FSYNC_DELAY_MICROSECONDS });
    const targets = [
      await startService(join(directory, 'service'), gateway.url, env),
      await startBareServer(join(directory, 'bare'), gateway.url, env),
    ];

    async function measure(target: Target): Promise<{ one: number; many: number; others: string }> {
      const rates = { 1: [] as number[], 50: [] as number[] };
      const results: LoadResult[] = [];
      for (let round = 0; round <= rounds; round++) {
        for (const connections of [1, 50] as const) {
          const result = await load.run(target, { connections, amount: { seconds: seconds / 2 } });
          await drained(target);
          if (round > 0) rates[connections].push(result.accepted / result.seconds);
          results.push(result);
        }
      }
      const [one, many] = [median(rates[1]), median(rates[50])];
      progress(`${target.name} ${perSecond(one)} with one connection, ${perSecond(many)} with 50`);
      return { one, many, others: otherAnswers(target.name, results) };
    }

    try {
      const [service, bare] = [await measure(targets[0] as Target), await measure(targets[1] as Target)];
      return [
        {
          what: '50 connections compared with one, fsync + 1 ms',
          value: service.many / service.one,
          unit: 'x',
          limit: { direction: 'least', bound: 8 },
          detail: `${perSecond(service.many)} against ${perSecond(service.one)}${service.others}; bare: ${(bare.many / bare.one).toFixed(1)}x`,
        },
      ];
    } finally {
      await Promise.all(targets.map((target) => target.process.stop()));
    }
  },
};
