import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { call } from '../support/call.ts';
import { ROOT, type Service, startService } from '../support/start-service.ts';
import { waitFor } from '../support/wait-for.ts';
import { INSPECTED, type MemorySample, openMemoryProbe } from './memory-probe.ts';
import { memoryProblems, type MemoryTrend, trendOf } from './memory-trend.ts';

const MISBEHAVING = join(ROOT, 'gateway', 'src', 'testing', 'misbehaving-server.ts');
/** Each of these servers only ever misbehaves in this one way. */
const MOODS = [
  'exit',
  'hang',
  'flood',
  'long-line',
  'wrong-id',
  'garbage',
  'big',
  'close-stdout',
  'half-line',
  'bad-shape',
  'stderr-flood',
  'change-storm',
  'memory',
  'child-memory',
  'rpc-error',
  'double',
  'stop-reading',
];
/** What makes ending one of them harder: a process that ignores SIGTERM, a child on its pipes, a daemon outside its group. */
const TRAITS: Readonly<Record<string, string[]>> = {
  'wrong-id': ['ignore-term'],
  'close-stdout': ['grandchild'],
  flood: ['daemon'],
  'long-line': ['ignore-term', 'grandchild', 'daemon'],
};
const TOKENS = { GATEWAY_ADMIN_TOKEN: 'soak-admin-0000000000000', GATEWAY_INVOKE_TOKEN: 'soak-invoke-000000000000' };
const AT_ONCE = 11;
/** So many of the workers talk to the server that behaves all the time, the others but one to each in turn. */
const STEADY = 3;
/** One more asks for answers of 5 MB only, so that keeping any of them shows; more often would be a flood. */
const LARGE_PAUSE_MS = 3000;
/** Between two calls of a worker, so that an hour of this leaves the machine to others. */
const PAUSE_MS = 100;
const ORPHANS_GONE_MS = 60_000;

export interface SoakResult {
  runs: Record<string, number>;
  memory: MemoryTrend;
  goodRestarts: number;
  badRestarts: number;
  /** The longest run of the server that behaves, in milliseconds. */
  slowestGood: number;
  /** The most processes of tool servers at a time. */
  mostProcesses: number;
  /** Processes of tool servers that outlived the gateway, which is killed at the end. */
  orphans: number;
}

/** Runs agents against servers that misbehave in every way beside one that behaves, for `seconds`. */
export async function soak(directory: string, seconds: number, progress: (text: string) => void): Promise<SoakResult> {
  const marker = `soak-${process.pid}-${Date.now()}`;
  const options = { env: TOKENS, timeoutMs: 60_000, nodeFlags: INSPECTED };
  const gateway = await startService('gateway', writeConfig(directory, marker), options);
  const runs: Record<string, number> = {};
  const memory: MemorySample[] = [];
  let slowestGood = 0;
  let mostProcesses = 0;
  let servers: { name: string; restart_count: number }[] = [];
  const opened: { close(): void }[] = [];
  try {
    // Eighteen servers start at once, and a run waits ten seconds for its own.
    await waitFor(() => isRunning(gateway, 'ok'), { what: 'the good server to run', timeoutMs: 60_000 });
    const until = performance.now() + seconds * 1000;
    const socket = await connect(`${gateway.url.replace('http', 'ws')}/rpc`);
    opened.push({ close: () => socket.terminate() });
    const probe = await openMemoryProbe(gateway);
    opened.push(probe);
    const runAgent = caller(socket);
    const work = async (worker: number): Promise<void> => {
      for (let turn = worker; performance.now() < until; turn += AT_ONCE) {
        const mood = moodOf(worker, turn);
        const began = performance.now();
        const outcome = `${mood === 'ok' ? 'good' : 'bad'}: ${await runAgent(mood)}`;
        runs[outcome] = (runs[outcome] ?? 0) + 1;
        if (mood === 'ok') slowestGood = Math.max(slowestGood, performance.now() - began);
        await wait(worker === STEADY ? LARGE_PAUSE_MS : PAUSE_MS);
      }
    };
    const watch = async (): Promise<void> => {
      while (performance.now() < until) {
        await wait(Math.min(5000, (seconds * 1000) / 12));
        const sample = await probe.sample();
        memory.push(sample);
        mostProcesses = Math.max(mostProcesses, processesWith(marker));
        const left = Math.round((until - performance.now()) / 1000);
        const { held, resident } = sample;
        progress(`${left} s left, ${held.toFixed(1)} MiB held of ${resident.toFixed(0)}, ${JSON.stringify(runs)}`);
      }
    };
    await Promise.all([watch(), ...Array.from({ length: AT_ONCE }, (_, worker) => work(worker))]);
    const answer = await fetch(`${gateway.url}/mcp/servers`, {
      headers: { authorization: `Bearer ${TOKENS.GATEWAY_INVOKE_TOKEN}` },
    });
    servers = ((await answer.json()) as { servers: typeof servers }).servers;
  } finally {
    for (const one of opened) one.close();
    await gateway.kill();
  }
  const restarts = (good: boolean) =>
    servers.filter(({ name }) => (name === 'ok') === good).reduce((sum, { restart_count }) => sum + restart_count, 0);
  return {
    runs,
    memory: trendOf(memory),
    goodRestarts: restarts(true),
    badRestarts: restarts(false),
    slowestGood: Math.round(slowestGood),
    mostProcesses,
    orphans: await orphansOf(marker),
  };
}

async function isRunning({ url }: Service, server: string): Promise<boolean> {
  const { body } = await call<{ mcp_servers: Record<string, { running: boolean }> }>(`${url}/health`);
  return body.mcp_servers[server]?.running ?? false;
}

function moodOf(worker: number, turn: number): string {
  if (worker < STEADY) return 'ok';
  return worker === STEADY ? 'big' : (MOODS[turn % MOODS.length] ?? 'ok');
}

async function orphansOf(marker: string): Promise<number> {
  const until = performance.now() + ORPHANS_GONE_MS;
  while (processesWith(marker) > 0 && performance.now() < until) await wait(100);
  return processesWith(marker);
}

/** What must hold at the end; the sentences that do not. */
export function problemsOf({ runs, memory, goodRestarts, badRestarts, orphans }: SoakResult): string[] {
  const failedGood = Object.entries(runs).filter(([what]) => what.startsWith('good: ') && what !== 'good: completed');
  return [
    ...failedGood.map(([what, count]) => `${count} runs of the good server ended as ${what.slice(6)}`),
    ...((runs['good: completed'] ?? 0) === 0 ? ['no run of the good server completed'] : []),
    ...(runs['bad: internal'] ? [`${runs['bad: internal']} runs failed inside the gateway`] : []),
    ...memoryProblems(memory),
    ...(goodRestarts > 0 ? [`the good server was restarted ${goodRestarts} times`] : []),
    ...(badRestarts === 0 ? ['no bad server was restarted: they did not misbehave'] : []),
    ...(orphans > 0 ? [`${orphans} processes were left behind`] : []),
  ];
}

function writeConfig(directory: string, marker: string): string {
  const names = ['ok', ...MOODS];
  for (const name of names) {
    const folder = join(directory, 'agents', name);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'agent.yaml'), JSON.stringify({ name, model: 'demo/scripted', tools: [name] }));
    writeFileSync(
      join(folder, 'soul.md'),
      `\`\`\`demo\ncalls: [{tool: ${name}/${name}}]\nanswer: {confidence: 1, summary: done}\n\`\`\`\n`,
    );
  }
  const config = {
    server: { port: 0, drain_seconds: 2 },
    log: { level: 'info' },
    limits: { max_concurrent_runs: AT_ONCE, tool_timeout_seconds: 4 },
    mcp_servers: Object.fromEntries(
      names.map((name) => [
        name,
        {
          command: process.execPath,
          args: [MISBEHAVING, marker, ...(TRAITS[name] ?? [])],
          memory_limit_mib: 300,
          env: { MARK: marker },
        },
      ]),
    ),
  };
  const path = join(directory, 'gateway.yaml');
  writeFileSync(path, JSON.stringify(config));
  return path;
}

async function connect(url: string): Promise<WebSocket> {
  const socket = new WebSocket(url, { headers: { authorization: `Bearer ${TOKENS.GATEWAY_INVOKE_TOKEN}` } });
  await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
  return socket;
}

function caller(socket: WebSocket): (agent: string) => Promise<string> {
  const waiting = new Map<number, (outcome: string) => void>();
  let last = 0;
  socket.on('message', (data) => {
    const { id, error } = JSON.parse(String(data)) as { id?: number; error?: { data?: { type?: string } } };
    if (id === undefined) return;
    waiting.get(id)?.(error ? (error.data?.type ?? 'unknown') : 'completed');
    waiting.delete(id);
  });
  return (agent) =>
    new Promise((resolve) => {
      waiting.set((last += 1), resolve);
      socket.send(JSON.stringify({ jsonrpc: '2.0', id: last, method: 'agent.run', params: { agent, input: 'go' } }));
    });
}

function processesWith(marker: string): number {
  const environment = (pid: string): string => {
    try {
      return readFileSync(`/proc/${pid}/environ`, 'utf8');
    } catch {
      return '';
    }
  };
  return readdirSync('/proc').filter((pid) => /^\d+$/.test(pid) && environment(pid).includes(marker)).length;
}
