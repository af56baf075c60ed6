import { closeSync, fsyncSync, openSync, writeSync } from 'node:fs';
import { availableParallelism, cpus, loadavg, totalmem } from 'node:os';
import { join } from 'node:path';
import { median } from './benchmark.ts';

export interface Machine {
  node: string;
  cpu: string;
  cores: number;
  memory_gb: number;
  load: number;
  fsync_ms: number;
}

/** What the absolute figures depend on; `directory` is on the measured disk. */
export function describeMachine(directory: string): Machine {
  return {
    node: process.version,
    cpu: cpus()[0]?.model.trim() ?? 'unknown',
    cores: availableParallelism(),
    memory_gb: Math.round(totalmem() / 1e9),
    load: Math.round((loadavg()[0] ?? 0) * 100) / 100,
    fsync_ms: fsyncMilliseconds(directory),
  };
}

function fsyncMilliseconds(directory: string): number {
  const file = openSync(join(directory, 'fsync-probe'), 'w');
  const page = Buffer.alloc(4096);
  const times = Array.from({ length: 100 }, () => {
    writeSync(file, page);
    const start = performance.now();
    fsyncSync(file);
    return performance.now() - start;
  });
  closeSync(file);
  return Math.round(median(times) * 1000) / 1000;
}
