import { readdirSync, readFileSync } from 'node:fs';
import { median } from '../benchmark.ts';
import { cpuMilliseconds } from '../services.ts';
import type { Question } from './questions.ts';

/** What one request cost, medians in milliseconds. */
export interface Cost {
  /** Of the service and of Postgres, all threads. */
  cpu: number;
  /** Of the thread with the event loop: no single hold of it is longer. */
  loop: number;
  wall: number;
  /** Wall time of the first request. */
  first: number;
  bytes: number;
}

/** A service with a history. */
export interface Measured {
  url: string;
  pid: number;
  /** Of the Postgres server; null where the service holds the database. */
  server: number | null;
  token: string;
  cookie: string;
}

/** Requests for a figure: until `most` were made or this much time is over. Code that ran ten times costs twice as much as compiled code. */
const MOST = 41;
const ENOUGH_MS = 4_000;

/** What a service uses of its CPU in a millisecond for what goes on beside the questions. */
export interface Beside {
  cpu: number;
  loop: number;
}

export async function costOf(
  service: Measured,
  question: Question,
  { runs, beside }: { runs: number; beside?: Beside | undefined },
): Promise<Cost> {
  const first = await once(service, question.path(runs));
  const asked: Once[] = question.cold === true ? [first] : [];
  const until = performance.now() + ENOUGH_MS;
  while (asked.length === 0 || (question.cold !== true && asked.length < MOST && performance.now() < until))
    asked.push(await once(service, question.path(runs)));
  const middle = (pick: (one: Once) => number): number => median(asked.map(pick));
  const wall = middle((one) => one.wall);
  // Most requests of a few milliseconds have no webhook beside them: only of all together it is known how much the webhooks took.
  const of = (part: keyof Beside): number =>
    beside ? Math.max(0, mean(asked.map((one) => one[part] - one.wall * beside[part]))) : middle((one) => one[part]);
  return {
    cpu: of('cpu'),
    loop: of('loop'),
    wall,
    first: first.wall,
    bytes: first.bytes,
  };
}

const mean = (values: number[]): number => values.reduce((sum, one) => sum + one, 0) / values.length;

/** CPU that the service uses while `end` is waited for. */
export async function usedUntil(service: Measured, end: Promise<unknown>): Promise<Beside> {
  const [before, started] = [usedBy(service), performance.now()];
  await end;
  const [after, wall] = [usedBy(service), performance.now() - started];
  return { cpu: (after.cpu - before.cpu) / wall, loop: (after.loop - before.loop) / wall };
}

const usedBy = ({ pid, server }: Measured): Beside => ({
  cpu: cpuMilliseconds(pid) + (server === null ? 0 : familyCpu(server)),
  loop: threadCpu(pid),
});

interface Once {
  cpu: number;
  loop: number;
  wall: number;
  bytes: number;
}

async function once(service: Measured, path: string): Promise<Once> {
  const { url, token, cookie } = service;
  const [before, started] = [usedBy(service), performance.now()];
  const headers = { authorization: `Bearer ${token}` };
  const response = await fetch(url + path, {
    headers: path.startsWith('/ui') ? { cookie } : headers,
    redirect: 'manual',
  });
  const body = await response.arrayBuffer();
  const wall = performance.now() - started;
  // An answer that took longer than the service allows: its time is the figure.
  if (response.status !== 200 && response.status !== 503)
    throw new Error(`${path} answered ${response.status}: ${Buffer.from(body).toString().slice(0, 300)}`);
  const after = usedBy(service);
  return { cpu: after.cpu - before.cpu, loop: after.loop - before.loop, wall, bytes: body.byteLength };
}

const threadCpu = (pid: number): number =>
  Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6;

/** CPU of a process and its children, also of those that ended (in steps of 10 ms). */
function familyCpu(pid: number): number {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ');
  const ended = (Number(fields[13]) + Number(fields[14])) * 10;
  return [pid, ...children].map(cpuIfThere).reduce((sum, one) => sum + one, ended);
}

function cpuIfThere(pid: number): number {
  try {
    readdirSync(`/proc/${pid}/task`);
    return cpuMilliseconds(pid);
  } catch {
    return 0;
  }
}
