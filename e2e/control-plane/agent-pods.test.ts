import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { call } from '../support/call.ts';
import { localTokens, tokenEnvironment } from '../support/local-tokens.ts';
import { freePort } from '../support/scratch.ts';
import { ROOT, type Service, startProcess, startService } from '../support/start-service.ts';
import { waitFor } from '../support/wait-for.ts';
import { createAccounts } from './accounts.ts';
import { flags, metricOf, startController } from './controllers.ts';
import { type HeldModel, startHeldModel } from './held-model.ts';
import { type Pod, startPods } from './loopback-pods.ts';
import { objectsOf } from './objects.ts';
import { applyKinds, type ControlPlane, startControlPlane } from './start-control-plane.ts';

const PATIENCE = { timeoutMs: 120_000, everyMs: 50 };
const script = (calls: string, answer: string) =>
  `\`\`\`demo\ncalls: [${calls}]\nanswer: {confidence: 1, summary: "${answer}"}\n\`\`\`\n`;

let plane: ControlPlane;
let gateway: Service;
let model: HeldModel;
let managed = '';
let invokeToken = '';
let adminToken = '';
let soulUrl = '';
let ports: number[] = [];
let pods: Pod[] = [];
const running: { stop(): Promise<unknown> }[] = [];
const keep = <T extends { stop(): Promise<unknown> }>(part: T): T => {
  running.push(part);
  return part;
};

beforeAll(async () => {
  plane = keep(await startControlPlane());
  await applyKinds(plane);
  const accounts = await createAccounts(plane);
  const place = join(plane.scratch, 'services');
  managed = join(place, 'managed');
  for (const folder of ['managed/agents', 'agents']) mkdirSync(join(place, folder), { recursive: true });
  const tokens = localTokens(place);
  invokeToken = tokens.gateway_invoke;
  adminToken = tokens.gateway_admin;
  for (const [name, token] of Object.entries(tokens)) writeFileSync(join(place, name), token, { mode: 0o600 });

  model = keep(await startHeldModel());
  const toolPort = await freePort();
  ports = [await freePort(), await freePort()];
  const config = join(place, 'gateway.json');
  const triage = ports.map((port) => `127.0.0.1:${port}`);
  const content = {
    server: { port: 0, drain_seconds: 1 },
    agents_dir: join(place, 'agents'),
    identity_dir: join(place, 'identity'),
    managed_dir: managed,
    providers: { demo: { type: 'demo', default: true }, held: { type: 'openai_compatible', base_url: model.url } },
    mcp_servers: { machine: { image: 'machine-tools:1', port: toolPort } },
    // There is no DNS here that would know the Service.
    runtime: { mode: 'kubernetes', agents: { triage }, reconnect_timeout_seconds: 1 },
  };
  writeFileSync(config, JSON.stringify(content));
  const toolServer = { command: process.execPath, args: [join(ROOT, 'config/local/machine-tools/server.ts')] };
  keep(await startProcess('tool server', toolServer, { env: { PORT: String(toolPort) } }));
  gateway = keep(await startService('gateway', config, { env: tokenEnvironment(tokens) }));
  soulUrl = `${gateway.url}/agents/triage/soul`;
  const reload = { 'reload-url': `${gateway.url}/reload`, 'reload-token-file': join(place, 'gateway_admin') };
  const sync = ['sync', ...flags({ kinds: 'Agent', dir: managed, 'service-config': config, ...reload })];
  keep(await startController(sync, accounts.kubeconfig('sync')));
  const asked = { 'gateway-url': gateway.url, 'invoke-token-file': join(place, 'gateway_invoke') };
  const manager = ['manager', ...flags({ 'gateway-config': config, 'runner-image': 'signalbox:1', ...asked })];
  keep(await startController(manager, accounts.kubeconfig('manager')));
}, 600_000);
afterAll(async () => {
  for (const part of [...running, ...pods].toReversed()) await part.stop();
});

interface Answer {
  result?: { status: string; text: string; tool_calls: number };
  error?: { code: number; data: { type: string; retryable: boolean } };
}
/** One run over a separate connection. */
async function run(agent: string): Promise<Answer> {
  const headers = { authorization: `Bearer ${invokeToken}` };
  const socket = new WebSocket(`${gateway.url.replace('http', 'ws')}/rpc`, { headers });
  try {
    await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
    const answer = new Promise<Answer>((resolve) => {
      socket.on('message', (data) => {
        const message = JSON.parse(String(data)) as Answer & { id?: number };
        if (message.id === 1) resolve(message);
      });
    });
    const params = { agent, input: 'go', output_schema: { type: 'object' } };
    socket.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'agent.run', params }));
    return await answer;
  } finally {
    socket.close();
  }
}

const apply = (agentModel: string, soul: string) =>
  objectsOf(plane).apply('Agent', 'triage', {
    model: agentModel,
    tools: ['machine/read_*'],
    soul,
    runtime: { replicas: 2 },
  });

test('an applied Agent answers from pods that were started as its Deployment says', async () => {
  const objects = objectsOf(plane);
  await apply('demo/any', script('{tool: machine/read_memory}', 'looked'));
  await objects.becomes('Agent triage', 'Ready', 'False Starting');
  const waiting = run('triage');
  pods = await startPods(plane, 'agent-triage', ports);
  expect(await waiting).toMatchObject({ result: { status: 'completed', tool_calls: 1 } });
  await objects.becomes('Agent triage', 'Ready', 'True Ready');
  const { status } = await waitFor(
    async () => {
      const seen = await objects.get('Agent', 'triage');
      return Array.isArray(seen.status?.['discoveredTools']) && seen.status['discoveredTools'].length > 0 ? seen : null;
    },
    { what: 'the tools of the pod on the object', ...PATIENCE },
  );
  expect(status?.['discoveredTools']).toMatchObject(
    ['read_disks', 'read_load', 'read_memory'].map((name) => ({ server: 'machine', name })),
  );
});

test('the manifest tells the gateway where its Service is', () => {
  const { agents } = JSON.parse(readFileSync(join(managed, 'manifest.json'), 'utf8')) as { agents: object };
  expect(agents).toEqual({ triage: 'agent-triage.default.svc:18781' });
});

test('runs are spread over the pods, and one that dies fails only its own, as something to try again', async () => {
  const soul = 'You wait.';
  await apply('held/any', soul);
  await waitFor(async () => (await call<{ content: string }>(soulUrl, { token: adminToken })).body.content === soul, {
    what: 'the changed agent',
    ...PATIENCE,
  });
  const connected = async () => (await metricOf(gateway, 'gateway_agent_pods_connected{agent="triage"}')) === 2;
  await waitFor(connected, { what: 'both pods to be connected', ...PATIENCE });
  const answers = Array.from({ length: 4 }, () => run('triage'));
  // A run whose pod did nothing for it yet would begin again on the other one.
  await waitFor(() => model.asked() === 4, { what: 'every run to wait for the model', ...PATIENCE });
  expect(await Promise.all(pods.map((pod) => pod.activeRuns()))).toEqual([2, 2]);
  await pods[0]?.kill();
  model.release();
  const ended = await Promise.all(answers);
  expect(ended.filter(({ result }) => result?.status === 'completed')).toHaveLength(2);
  const lost = ended.filter(({ error }) => error);
  expect(lost).toHaveLength(2);
  for (const { error } of lost) expect(error).toMatchObject({ code: -32_016, data: { retryable: true } });
  expect(await run('triage')).toMatchObject({ result: { status: 'completed' } });
});
