import { readFile } from 'node:fs/promises';
import { freemem, totalmem } from 'node:os';
import { round } from './load.ts';

export interface Memory {
  total_mib: number;
  /** What programs can still get without swapping. */
  available_mib: number;
  used_percent: number;
  swap_used_mib: number | null;
}

const MIB = 1024 * 1024;

/** `Key: 123 kB` lines of /proc/meminfo, in KiB. */
export function parseMeminfo(text: string): Map<string, number> {
  const rows = text.matchAll(/^(\w+):\s+(\d+) kB$/gm);
  return new Map([...rows].map(([, key, value]) => [key ?? '', Number(value)]));
}

export async function readMemory(): Promise<Memory> {
  const meminfo = parseMeminfo(await readFile('/proc/meminfo', 'utf8').catch(() => ''));
  const available = (meminfo.get('MemAvailable') ?? freemem() / 1024) / 1024;
  const total = totalmem() / MIB;
  const swapTotal = meminfo.get('SwapTotal');
  const swapFree = meminfo.get('SwapFree');
  return {
    total_mib: Math.round(total),
    available_mib: Math.round(available),
    used_percent: round(100 * (1 - available / total), 1),
    swap_used_mib: swapTotal === undefined || swapFree === undefined ? null : Math.round((swapTotal - swapFree) / 1024),
  };
}
