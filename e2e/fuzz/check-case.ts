import type { Target } from './targets.ts';

/** Processor time that one case may take: what is close to a bound takes a part of it. */
export const MAX_CPU_MS = 3000;

/** Throws what the target threw, or that it took too long. */
export function checkCase({ run }: Target, value: unknown): void {
  const before = process.cpuUsage();
  run(value);
  const { user, system } = process.cpuUsage(before);
  const milliseconds = (user + system) / 1000;
  if (milliseconds > MAX_CPU_MS) throw new Error(`took ${Math.round(milliseconds)} ms of processor time`);
}
