import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { ROOT, startService } from '../support/start-service.ts';

const MISBEHAVING = join(ROOT, 'gateway', 'src', 'testing', 'misbehaving-server.ts');
/** Each of these servers is only asked to do this one thing, again and again. */
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
];
const TOKENS = { GATEWAY_ADMIN_TOKEN: 'soak-admin-0000000000000', GATEWAY_INVOKE_TOKEN: 'soak-invoke-000000000000' };
const AT_ONCE = 8;
const SAMPLES_FOR_A_TREND = 8;

export interface SoakResult {
  runs: Record<string, number>;
  /** Resident memory of the gateway over time, in MiB. */
  memory: number[];
  /** How much larger the median of the last third is than that of the second one. */
  growth: number;
  goodRestarts: number;
  badRestarts: number;
  /** Processes of tool servers that outlived the gateway. */
  orphans: number;
}

/** Runs agents against servers that misbehave in every way beside one that behaves, for `seconds`. */
export async function soak(directory: string, seconds: number, progress: (text: string) => void): Promise<SoakResult> {
  const marker = `soak-${process.pid}-${Date.now()}`;
  const gateway = await startService('gateway', writeConfig(directory, marker), { env: TOKENS, timeoutMs: 60_000 });
  const runs: Record<string, number> = {};
  const memory: number[] = [];
  const until = performance.now() + seconds * 1000;
  const socket = await connect(`${gateway.url.replace('http', 'ws')}/rpc`);
  let servers: { name: string; restart_count: number }[] = [];
  try {
    const call = caller(socket);
    const work = async (worker: number): Promise<void> => {
      for (let turn = worker; performance.now() < until; turn += AT_ONCE) {
        const mood = turn % 3 === 0 ? 'ok' : (MOODS[turn % MOODS.length] ?? 'ok');
        const outcome = `${mood === 'ok' ? 'good' : 'bad'}: ${await call(mood)}`;
        runs[outcome] = (runs[outcome] ?? 0) + 1;
      }
    };
    const watch = async (): Promise<void> => {
      while (performance.now() < until) {
        await wait(Math.min(5000, (seconds * 1000) / 12));
        memory.push(residentMebibytes(gateway.pid));
        progress(
          `${Math.round((until - performance.now()) / 1000)} s left, ${memory.at(-1)?.toFixed(0)} MiB, ${JSON.stringify(runs)}`,
        );
      }
    };
    await Promise.all([watch(), ...Array.from({ length: AT_ONCE }, (_, worker) => work(worker))]);
    const answer = await fetch(`${gateway.url}/mcp/servers`, {
      headers: { authorization: `Bearer ${TOKENS.GATEWAY_INVOKE_TOKEN}` },
    });
    servers = ((await answer.json()) as { servers: typeof servers }).servers;
  } finally {
    socket.terminate();
    await gateway.stop(30_000);
  }
  const restarts = (good: boolean) =>
    servers.filter(({ name }) => (name === 'ok') === good).reduce((sum, { restart_count }) => sum + restart_count, 0);
  return {
    runs,
    memory,
    growth: growthOf(memory),
    goodRestarts: restarts(true),
    badRestarts: restarts(false),
    orphans: processesWith(marker),
  };
}

/** What must hold at the end; the sentences that do not. */
export function problemsOf({ runs, growth, goodRestarts, badRestarts, orphans }: SoakResult): string[] {
  const failedGood = Object.entries(runs).filter(([what]) => what.startsWith('good: ') && what !== 'good: completed');
  return [
    ...failedGood.map(([what, count]) => `${count} runs of the good server ended as ${what.slice(6)}`),
    ...((runs['good: completed'] ?? 0) === 0 ? ['no run of the good server completed'] : []),
    ...(runs['bad: internal'] ? [`${runs['bad: internal']} runs failed inside the gateway`] : []),
    ...(growth > 1.2 ? [`memory grew to ${growth.toFixed(2)} times of what it was`] : []),
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
    limits: { max_concurrent_runs: AT_ONCE, tool_timeout_seconds: 2 },
    mcp_servers: Object.fromEntries(
      names.map((name) => [name, { command: process.execPath, args: [MISBEHAVING, marker], memory_limit_mib: 300 }]),
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

function growthOf(memory: number[]): number {
  if (memory.length < SAMPLES_FOR_A_TREND) return 1;
  const third = Math.floor(memory.length / 3);
  const middle = (values: number[]) => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 1;
  return middle(memory.slice(-third)) / middle(memory.slice(third, 2 * third));
}

function residentMebibytes(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
}

function processesWith(marker: string): number {
  const commandLine = (pid: string): string => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
    } catch {
      return '';
    }
  };
  return readdirSync('/proc').filter((pid) => /^\d+$/.test(pid) && commandLine(pid).includes(marker)).length;
}
