import { join } from 'node:path';
import type { Benchmark } from './benchmark.ts';
import { completedRuns, drained } from './services.ts';

const CONNECTIONS = 50;
const KEYS = 500;

/** Every connection sends every key, all released together. */
export const sameKeys: Benchmark = {
  name: 'same-keys',
  about: `${CONNECTIONS} connections each send the same ${KEYS} keys at the same time`,
  async run({ startService, directory, gateway, load, progress }) {
    const service = await startService(join(directory, 'service'), gateway.url);
    try {
      const { answers, accepted } = await load.run(service, { connections: CONNECTIONS, amount: { keys: KEYS } });
      await drained(service);
      const stored = completedRuns(service);
      progress(
        Object.entries(answers)
          .map(([kind, count]) => `${count} ${kind}`)
          .join(', '),
      );
      const detail = Object.entries(answers).map(([kind, count]) => `${count.toLocaleString('en')} ${kind}`);
      return [
        {
          what: 'accepted of 50 connections x 500 keys',
          value: accepted,
          unit: '',
          limit: { direction: 'exactly', bound: KEYS },
          detail: `${detail.join(', ')}; ${stored} runs stored`,
        },
      ];
    } finally {
      await service.process.stop();
    }
  },
};
