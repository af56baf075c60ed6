import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { buildBundle } from '../support/bundled.ts';
import type { Benchmark } from './benchmark.ts';
import { cpuMilliseconds, drained, residentMegabytes } from './services.ts';

/** V8 collects garbage once more, about eight seconds after the last work; what is measured here is what comes after it. */
const SETTLE_MS = 15_000;
const WATCHED_SECONDS = 20;

/** A service that has done one run and waits for the next. */
export const idle: Benchmark = {
  name: 'idle',
  about: "memory and CPU of an idle service, started from the image's bundle",
  async run({ startService, directory, gateway, load, progress }) {
    if (process.platform !== 'linux') return { leftOut: 'reads /proc, which is Linux only' };
    const dist = buildBundle(join(directory, 'dist'));
    const service = await startService(join(directory, 'service'), gateway.url, {}, dist);
    try {
      await load.run(service, { connections: 1, amount: { requests: 1 } });
      await drained(service);
      await wait(SETTLE_MS);
      const before = cpuMilliseconds(service.process.pid);
      await wait(WATCHED_SECONDS * 1000);
      const percent = (cpuMilliseconds(service.process.pid) - before) / WATCHED_SECONDS / 10;
      const megabytes = residentMegabytes(service.process.pid);
      progress(`${megabytes.toFixed(0)} MB, ${percent.toFixed(1)}% CPU`);
      return [
        { what: 'idle memory (RSS)', value: megabytes, unit: 'MB', limit: { direction: 'most', bound: 160, aim: 90 } },
        { what: 'idle CPU', value: percent, unit: '%', limit: { direction: 'most', bound: 1 } },
      ];
    } finally {
      await service.process.stop();
    }
  },
};
