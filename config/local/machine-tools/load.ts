import { type CpuInfo, cpus, loadavg, uptime } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';

export interface Load {
  load_1m: number;
  load_5m: number;
  load_15m: number;
  cpus: number;
  /** One minute's load over the number of CPUs: 1 means every CPU has one task that wants to run. */
  load_per_cpu: number;
  /** Share of CPU time spent on work during the sample, 0 to 100. */
  busy_percent: number;
  uptime_hours: number;
}

export const round = (value: number, digits = 2) => Math.round(value * 10 ** digits) / 10 ** digits;

/** Busy share between two readings of the CPU counters, 0 to 100. */
export function busyPercent(before: readonly CpuInfo[], after: readonly CpuInfo[]): number {
  const total = (infos: readonly CpuInfo[]) =>
    infos.flatMap(({ times }) => Object.values(times)).reduce((sum, ticks) => sum + ticks, 0);
  const idle = (infos: readonly CpuInfo[]) => infos.reduce((sum, { times }) => sum + times.idle, 0);
  const elapsed = total(after) - total(before);
  return elapsed > 0 ? round(100 * (1 - (idle(after) - idle(before)) / elapsed), 1) : 0;
}

export async function readLoad(sampleMs = 200): Promise<Load> {
  const before = cpus();
  await delay(sampleMs);
  const after = cpus();
  const [one = 0, five = 0, fifteen = 0] = loadavg();
  const count = Math.max(1, after.length);
  return {
    load_1m: round(one),
    load_5m: round(five),
    load_15m: round(fifteen),
    cpus: count,
    load_per_cpu: round(one / count),
    busy_percent: busyPercent(before, after),
    uptime_hours: round(uptime() / 3600, 1),
  };
}
