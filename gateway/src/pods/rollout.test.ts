import { once } from 'node:events';
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { WebSocketServer } from 'ws';
import { loadSigningKey } from '../identity/signing-key.ts';
import { DIALECTS } from '../testing/dialects.ts';
import { startFakeModelServer } from '../testing/fake-model-server.ts';
import { type RunnerProcess, startRunnerProcess } from '../testing/start-runner-process.ts';
import { startTestGateway, type TestGateway } from '../testing/start-test-gateway.ts';
import { until } from '../testing/until.ts';

vi.setConfig({ testTimeout: 180_000 });
const loaded = loadSigningKey({ identityDir: '', pem: undefined, adminToken: 'admin-token-of-the-test' });
if (!loaded.ok) throw new Error(loaded.message);
const signingKey = loaded.key;
const opened: (() => unknown)[] = [];
afterEach(async () => {
  for (let undo = opened.pop(); undo; undo = opened.pop()) await undo();
});

/** Pods of the agent `far`, as the gateway finds them: by the manifest that the sync sidecar writes. */
async function world(soul: string, providers: Record<string, object> = { demo: { type: 'demo', default: true } }) {
  const managed = mkdtempSync(join(tmpdir(), 'managed-'));
  opened.push(() => rmSync(managed, { recursive: true, force: true }));
  mkdirSync(join(managed, 'agents/far'), { recursive: true });
  writeFileSync(join(managed, 'agents/far/agent.yaml'), JSON.stringify({ name: 'far', model: 'any' }));
  writeFileSync(join(managed, 'agents/far/soul.md'), soul);
  const list = (address: string) => {
    const manifest = { files: {}, objects: [], agents: { far: address } };
    writeFileSync(join(managed, 'manifest.new'), JSON.stringify(manifest));
    renameSync(join(managed, 'manifest.new'), join(managed, 'manifest.json'));
  };
  const pod = async () => {
    const started = await startRunnerProcess({
      AGENT_NAME: 'far',
      GATEWAY_PUBLIC_KEY: signingKey.publicKey,
      RUNNER_DRAIN_SECONDS: '120',
    });
    opened.push(started.stop);
    return started;
  };
  const start = async (addresses?: string[]): Promise<TestGateway> => {
    const runtime = {
      mode: 'kubernetes',
      start_timeout_seconds: 120,
      ...(addresses ? { agents: { far: addresses } } : {}),
    };
    const gateway = await startTestGateway({ signingKey, config: { managed_dir: managed, providers, runtime } });
    opened.push(gateway.close);
    return gateway;
  };
  return { managed, list, pod, start };
}

const script = (answer: string) => `\`\`\`demo\nanswer: {confidence: 1, summary: "${answer}"}\n\`\`\`\n`;
const activeOn = async ({ address }: RunnerProcess) =>
  ((await (await fetch(`http://${address}/health`)).json()) as { active_runs: number }).active_runs;
const configured = (pod: RunnerProcess) => until(() => pod.output().includes('"configured"'));

test('a pod is connected before anybody asks for a run', async () => {
  const { list, pod, start } = await world(script('done'));
  const first = await pod();
  list(first.address);
  await start();
  await configured(first);
});

test('an agent of the operator does not run in the pod of a tenant’s agent of that name', async () => {
  const { managed, pod } = await world(script('theirs'));
  const owner = { kind: 'Agent', namespace: 'team-a', name: 'far', uid: 'u', generation: 1, hash: 'h' };
  const files = { 'agents/far/agent.yaml': owner };
  const manifest = { namespace: 'signalbox', files, objects: [], agents: { far: (await pod()).address } };
  writeFileSync(join(managed, 'manifest.json'), JSON.stringify(manifest));
  const gateway = await startTestGateway({
    signingKey,
    agents: { far: { config: { runtime: { mode: 'kubernetes' } }, soul: script('mine') } },
    config: { managed_dir: managed, runtime: { mode: 'kubernetes', start_timeout_seconds: 2 } },
  });
  opened.push(gateway.close);
  const { error } = await (await gateway.rpc()).call('agent.run', { agent: 'far', input: '' });
  expect(error?.message).toBe('the agent has no pod that answers');
});

test('how many pods of an agent are connected is a metric', async () => {
  const { pod, start } = await world(script('done'));
  const [first, second] = [await pod(), await pod()];
  const gateway = await start([first.address, second.address]);
  const says = async (line: string) => (await gateway.http('GET', '/metrics')).body.split('\n').includes(line);
  await until(() => says('gateway_agent_pods_connected{agent="far"} 2'));
  second.child.kill('SIGKILL');
  await until(() => says('gateway_agent_pods_connected{agent="far"} 1'));
});

test('a rollout loses no run: what runs ends on the old pod, what comes goes to the new one', async () => {
  const { promise: allAsked, resolve: answerAll } = Promise.withResolvers<void>();
  const models = await startFakeModelServer([{ after: allAsked, then: DIALECTS['openai_compatible']!.text('done') }]);
  opened.push(models.close);
  const { list, pod, start } = await world('You answer.', {
    own: { type: 'openai_compatible', base_url: `${models.url}/v1`, default: true },
  });
  const [old, next] = [await pod(), await pod()];
  list(old.address);
  const gateway = await start();
  await configured(old);
  const client = await gateway.rpc();
  const before = Array.from({ length: 3 }, () => client.call('agent.run', { agent: 'far', input: '' }));
  await until(() => models.requests.length === 3);
  expect(await activeOn(old)).toBe(3);
  const exited = once(old.child, 'exit');
  old.child.kill('SIGTERM');
  list(next.address);
  await configured(next);
  const after = Array.from({ length: 3 }, () => client.call('agent.run', { agent: 'far', input: '' }));
  await until(() => models.requests.length === 6);
  expect(await activeOn(next)).toBe(3);
  answerAll();
  for (const answer of await Promise.all([...before, ...after]))
    expect(answer).toMatchObject({ result: { status: 'completed' } });
  expect((await exited)[0]).toBe(0);
  expect(gateway.errors).toEqual([]);
});

test('a run that finds its pod gone is begun on the next, although the list still names the old one', async () => {
  const { pod, start } = await world(script('done'));
  const [old, next] = [await pod(), await pod()];
  const gateway = await start([old.address, next.address]);
  await Promise.all([configured(old), configured(next)]);
  const client = await gateway.rpc();
  const exited = once(old.child, 'exit');
  old.child.kill('SIGTERM');
  const runs = Array.from({ length: 8 }, () => client.call('agent.run', { agent: 'far', input: '' }));
  for (const answer of await Promise.all(runs)) expect(answer).toMatchObject({ result: { status: 'completed' } });
  await exited;
});

test('a pod that refuses a run because it ends is left alone for a while, and the run goes elsewhere', async () => {
  const { pod, start } = await world(script('done'));
  const asked: string[] = [];
  const fake = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  opened.push(() => {
    for (const client of fake.clients) client.terminate();
    fake.close();
  });
  fake.on('connection', (socket) =>
    socket.on('message', (data) => {
      const { id, method } = JSON.parse(String(data)) as { id: string; method: string };
      asked.push(method);
      const error = { code: -32_010, message: 'stopping', data: { type: 'at_capacity', retryable: true } };
      socket.send(JSON.stringify({ jsonrpc: '2.0', id, ...(method === 'agent.run' ? { error } : { result: {} }) }));
    }),
  );
  await once(fake, 'listening');
  const real = await pod();
  const gateway = await start([`127.0.0.1:${(fake.address() as AddressInfo).port}`, real.address]);
  await configured(real);
  await until(() => asked.length > 0);
  const client = await gateway.rpc();
  const began = performance.now();
  for (let run = 0; run < 3; run++)
    expect((await client.call('agent.run', { agent: 'far', input: '' })).result).toMatchObject({ status: 'completed' });
  const times = asked.filter((method) => method === 'agent.run').length;
  expect(times).toBeGreaterThan(0);
  // For two seconds: a machine may be so slow that these runs take longer.
  expect(times).toBeLessThanOrEqual(1 + Math.floor((performance.now() - began) / 2000));
});

test('runs wait for a pod that is not there yet, and none waits longer than the bound', async () => {
  const { list, pod, start } = await world(script('done'));
  list('127.0.0.1:1');
  const gateway = await start();
  const client = await gateway.rpc();
  const waiting = [1, 2, 3].map(() => client.call('agent.run', { agent: 'far', input: '' }));
  const impatient = await client.call('agent.run', { agent: 'far', input: '', timeout_ms: 200 });
  expect(impatient.error).toMatchObject({ code: -32_011 });
  list((await pod()).address);
  for (const { result } of await Promise.all(waiting)) expect(result).toMatchObject({ status: 'completed' });
});
