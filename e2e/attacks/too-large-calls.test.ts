import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { call } from '../support/call.ts';
import { scratchDirectory } from '../support/scratch.ts';
import { type Service, startService } from '../support/start-service.ts';
import { waitFor } from '../support/wait-for.ts';

const scratch = scratchDirectory('too-large-calls-');
const tokenOf = (name: string) => `token-of-${name}-for-the-test`;
let gateway: Service;
let service: Service;

function write(file: string, content: object | string): string {
  const path = join(scratch.path, file);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
}

const agentOf = (name: string, delayMs: number) => {
  write(`agents/${name}/agent.yaml`, { name, model: 'demo/script' });
  const script = `answer: {confidence: 0.9, summary: done}\ndelay_ms: ${delayMs}`;
  write(`agents/${name}/soul.md`, `Answer.\n\n\`\`\`demo\n${script}\n\`\`\`\n`);
};

/** A pipeline of the namespace of its name. */
function define(name: string, step: object) {
  const asks = { executor: 'gateway', agent: 'quick', name: 'look', prompt_template: 'Look', timeout_seconds: 600 };
  const match = { 'labels.namespace': name };
  const pipeline = { name, stage: 'production', trigger: { match }, steps: [{ ...asks, ...step }] };
  write(`managed/pipelines/${name}.yaml`, pipeline);
  return { kind: 'Pipeline', namespace: name, name, uid: name, generation: 1, hash: '' };
}

/** 200 KiB of text, each byte of which takes six in JSON. */
const LARGE = '{{annotations.text}}'.repeat(50);
const TEXT = '\u0001'.repeat(4_096);
const ATTACKS = {
  prompt: { prompt_template: LARGE },
  verifier: { verifier: { agent: 'quick', prompt_template: LARGE } },
  judge: { grounding: { agent: 'quick', prompt_template: LARGE } },
};

beforeAll(async () => {
  agentOf('quick', 0);
  agentOf('slow', 1_000);
  const tokens = Object.fromEntries(
    ['admin', 'invoke', 'approve'].map((role) => [`GATEWAY_${role.toUpperCase()}_TOKEN`, tokenOf(role)]),
  );
  const settings = { server: { port: 0 }, agents_dir: 'agents', providers: { demo: { type: 'demo' } } };
  gateway = await startService('gateway', write('gateway.yaml', settings), { env: tokens });
  const steps = { ...ATTACKS, pay: { agent: 'slow' } };
  const files = Object.fromEntries(
    Object.entries(steps).map(([name, step]) => [`pipelines/${name}.yaml`, define(name, step)]),
  );
  write('managed/manifest.json', { namespace: 'ops', files, objects: [], agents: {} });
  const config = write('config.yaml', {
    server: { host: '127.0.0.1', port: 0 },
    managed_dir: 'managed',
    database: { url: 'sqlite:large.db' },
    tenancy: { namespaces: Object.fromEntries(Object.keys(steps).map((name) => [name, {}])) },
    executors: { gateway: { url: `${gateway.url.replace('http', 'ws')}/rpc`, token: tokenOf('approve') } },
    auth: { tokens: ['webhook', 'viewer'].map((role) => ({ name: role, token: tokenOf(role), role })) },
  });
  service = await startService('api-server', config);
});
afterAll(async () => {
  await service.stop(1_000);
  await gateway.stop(1_000);
  scratch.remove();
});

async function alert(namespace: string): Promise<string> {
  const annotations = { text: TEXT };
  const alerts = [{ status: 'firing', labels: { alertname: `${namespace}-${Math.random()}`, namespace }, annotations }];
  const sent = { token: tokenOf('webhook'), body: { alerts } };
  return (await call<{ run_id: string }>(`${service.url}/webhook?source=alert_router`, sent)).body.run_id;
}

interface Run {
  status: string;
  error: { type: string } | null;
}
const runOf = async (id: string) => (await call<Run>(`${service.url}/runs/${id}`, { token: tokenOf('viewer') })).body;
const endOf = (id: string) =>
  waitFor(async () => ((await runOf(id)).status === 'running' ? null : runOf(id)), {
    what: 'the end of a run',
    timeoutMs: 15_000,
  });

test.each(Object.keys(ATTACKS))(
  'a %s that is larger than a message cuts off no call of another tenant',
  async (name) => {
    const before = await alert('pay');
    const attack = await alert(name);
    const after = await alert('pay');
    expect([await endOf(before), await endOf(after)]).toMatchObject([{ status: 'completed' }, { status: 'completed' }]);
    const ended = await endOf(attack);
    expect(ended).toMatchObject(name === 'prompt' ? { status: 'failed' } : { status: 'completed' });
    expect(JSON.stringify(ended)).toContain('the call is larger than 1048576 bytes');
  },
);
