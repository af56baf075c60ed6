import { execFile } from 'node:child_process';
import { readdir, readFile, readlink } from 'node:fs/promises';
import { basename } from 'node:path';
import { promisify } from 'node:util';
import { setTimeout as delay } from 'node:timers/promises';
import { round } from './load.ts';

/** A process by name; its arguments stay unread, they may hold secrets. */
export interface Process {
  pid: number;
  name: string;
  cpu_percent: number;
  memory_mib: number;
}

export interface Processes {
  processes: Process[];
  total: number;
}

interface Sample {
  name: string;
  /** Clock ticks of 10 ms. */
  ticks: number;
  memoryMib: number;
}

const TICKS_PER_SECOND = 100;
const PAGE_BYTES = 4096;
const AT_MOST = 10_000;

/** One line of /proc/PID/stat; the name is in brackets and may hold blanks and brackets itself. */
export function parseStat(text: string): Sample | null {
  const open = text.indexOf('(');
  const close = text.lastIndexOf(')');
  if (open < 0 || close < open) return null;
  const fields = text.slice(close + 2).split(' ');
  return {
    name: text.slice(open + 1, close),
    ticks: Number(fields[11]) + Number(fields[12]),
    memoryMib: round((Number(fields[21]) * PAGE_BYTES) / 1024 ** 2, 1),
  };
}

/** `ps -axo pid=,pcpu=,rss=,comm=`, for machines without /proc. */
export function parsePs(text: string): Process[] {
  return [...text.matchAll(/^\s*(\d+)\s+([\d.]+)\s+(\d+)\s+(.+)$/gm)].map(([, pid, cpu, rss, path]) => ({
    pid: Number(pid),
    name: path?.split('/').at(-1)?.trim() ?? '',
    cpu_percent: Number(cpu),
    memory_mib: round(Number(rss) / 1024, 1),
  }));
}

export async function readProcesses({
  by,
  limit,
  sampleMs = 200,
}: {
  by: 'cpu' | 'memory';
  limit: number;
  sampleMs?: number;
}): Promise<Processes> {
  const all = process.platform === 'linux' ? await fromProc(sampleMs) : await fromPs();
  const key = by === 'cpu' ? 'cpu_percent' : 'memory_mib';
  const largest = all.toSorted((a, b) => b[key] - a[key]).slice(0, limit);
  return { processes: await Promise.all(largest.map(withProgramName)), total: all.length };
}

/** A thread may rename itself ("MainThread"); the path of the executable has the real name, where it is readable. */
async function withProgramName(entry: Process): Promise<Process> {
  const program = await readlink(`/proc/${entry.pid}/exe`).catch(() => null);
  return program === null ? entry : { ...entry, name: basename(program) };
}

async function sampleAll(): Promise<Map<number, Sample>> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).slice(0, AT_MOST);
  const samples = await Promise.all(
    pids.map(
      async (pid) => [Number(pid), parseStat(await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => ''))] as const,
    ),
  );
  return new Map(samples.flatMap(([pid, sample]) => (sample ? [[pid, sample]] : [])));
}

async function fromProc(sampleMs: number): Promise<Process[]> {
  const started = performance.now();
  const before = await sampleAll();
  await delay(sampleMs);
  const after = await sampleAll();
  const seconds = (performance.now() - started) / 1000;
  return [...after].map(([pid, { name, ticks, memoryMib }]) => ({
    pid,
    name,
    cpu_percent: round((100 * (ticks - (before.get(pid)?.ticks ?? ticks))) / TICKS_PER_SECOND / seconds, 1),
    memory_mib: memoryMib,
  }));
}

async function fromPs(): Promise<Process[]> {
  const { stdout } = await promisify(execFile)('ps', ['-axo', 'pid=,pcpu=,rss=,comm='], { maxBuffer: 8 << 20 });
  return parsePs(stdout);
}
