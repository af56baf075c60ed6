import { join } from 'node:path';
import { waitFor } from '../support/wait-for.ts';
import type { Benchmark } from './benchmark.ts';
import { completedRuns, drained, startApiServer, type Target } from './services.ts';

const STORED = 10_000;
const INTERRUPTED = 50;

/** From the start of the process to the end of every run that a kill had interrupted. */
export const restart: Benchmark = {
  name: 'restart',
  about: `restart after kill -9 with ${STORED.toLocaleString('en')} stored runs and ${INTERRUPTED} interrupted ones`,
  async run({ directory, gateway, load, progress }) {
    const place = join(directory, 'service');
    const first = await startApiServer(place, gateway.url);
    await load.run(first, { connections: 50, amount: { requests: STORED } });
    await drained(first);
    const stored = completedRuns(first);
    progress(`${stored} runs stored`);
    await gateway.hold(true);
    await load.run(first, { connections: 10, amount: { requests: INTERRUPTED } });
    await active(first, INTERRUPTED);
    await first.process.kill();
    await gateway.hold(false);
    const begun = performance.now();
    const second = await startApiServer(place, gateway.url);
    try {
      await waitFor(() => completedRuns(second) === stored + INTERRUPTED, {
        what: 'the interrupted runs to complete',
        timeoutMs: 60_000,
        everyMs: 10,
      });
      const seconds = (performance.now() - begun) / 1000;
      return [
        {
          what: `restart until ${INTERRUPTED} interrupted runs have completed`,
          value: seconds,
          unit: 's',
          limit: { direction: 'most', bound: 3 },
          detail: `${stored.toLocaleString('en')} runs stored`,
        },
      ];
    } finally {
      await second.process.stop();
    }
  },
};

async function active(target: Target, count: number): Promise<void> {
  const probe = async () => {
    const response = await fetch(`${target.process.url}/health`);
    return ((await response.json()) as { active_runs: number }).active_runs === count;
  };
  await waitFor(probe, { what: `${count} active runs`, timeoutMs: 10_000, everyMs: 5 });
}
