import { join } from 'node:path';
import { alternate } from './alternate.ts';
import {
  type BenchContext,
  type Benchmark,
  type Figure,
  median,
  milliseconds,
  otherAnswers,
  perSecond,
} from './benchmark.ts';
import type { LoadResult } from './load.ts';
import { completedRuns, drained, startBareServer, type Target } from './services.ts';

const CONNECTIONS = 50;

interface Round extends LoadResult {
  completedPerSecond: number;
}

/**
 * Steady load while the runs execute against an instant gateway; the clock stops when the last accepted run is stored as
 * completed, so that a backlog does not count as work done.
 */
export const runs: Benchmark = {
  name: 'runs',
  about: `runs completed and stored per second under steady load, ${CONNECTIONS} connections, instant gateway, and p99 of the 202`,
  async run(context) {
    const { startService, directory, gateway, rounds } = context;
    const bare = await startBareServer(join(directory, 'bare'), gateway.url);
    const service = await startService(join(directory, 'service'), gateway.url);
    const results = await alternate({ bare, service }, rounds, (target) => oneRound(target, context));
    return figures(results.bare, results.service);
  },
};

async function oneRound(target: Target, { load, progress, seconds }: BenchContext): Promise<Round> {
  const before = completedRuns(target);
  const result = await load.run(target, { connections: CONNECTIONS, amount: { seconds } });
  const drainMs = await drained(target);
  const completed = completedRuns(target) - before;
  if (completed !== result.accepted)
    throw new Error(`${target.name} accepted ${result.accepted} runs and completed ${completed}`);
  const completedPerSecond = completed / (result.seconds + drainMs / 1000);
  progress(`${target.name} ${perSecond(completedPerSecond)}, p99 ${milliseconds(result.p99)}`);
  return { ...result, completedPerSecond };
}

function figures(bare: Round[], service: Round[]): Figure[] {
  const ours = median(service.map((round) => round.completedPerSecond));
  const limit = median(bare.map((round) => round.completedPerSecond));
  const [p99, bareP99] = [median(service.map((round) => round.p99)), median(bare.map((round) => round.p99))];
  return [
    {
      what: 'runs completed compared with the bare server',
      value: ours / limit,
      unit: 'x',
      limit: { direction: 'least', bound: 0.4, aim: 0.6 },
      detail: `${perSecond(ours)} against ${perSecond(limit)}${otherAnswers('service', service)}${otherAnswers('bare', bare)}`,
    },
    {
      what: 'p99 of the 202 compared with the bare server',
      value: p99 / bareP99,
      unit: 'x',
      limit: { direction: 'most', bound: 2 },
      detail: `${milliseconds(p99)} against ${milliseconds(bareP99)}`,
    },
  ];
}
