import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { scratchDirectory } from '../support/scratch.ts';
import { type Service, startService } from '../support/start-service.ts';
import { waitFor } from '../support/wait-for.ts';
import { alert, configureTenants, read, tokenOf } from './tenant-site.ts';

const scratch = scratchDirectory('too-large-calls-');
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

const asking = (step: object) => ({
  steps: [
    { executor: 'gateway', agent: 'quick', name: 'look', prompt_template: 'Look', timeout_seconds: 600, ...step },
  ],
});

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
  const names = Object.keys(steps);
  const config = configureTenants(scratch.path, {
    pipelines: Object.fromEntries(Object.entries(steps).map(([name, step]) => [name, { [name]: asking(step) }])),
    namespaces: Object.fromEntries(names.map((name) => [name, {}])),
    more: { executors: { gateway: { url: `${gateway.url.replace('http', 'ws')}/rpc`, token: tokenOf('approve') } } },
  });
  service = await startService('api-server', config);
});
afterAll(async () => {
  await service.stop(1_000);
  await gateway.stop(1_000);
  scratch.remove();
});

const start = async (namespace: string) =>
  (await alert(service, namespace, { alertname: `${namespace}-${Math.random()}`, annotations: { text: TEXT } })).run;

interface Run {
  status: string;
  error: { type: string } | null;
}
const runOf = (id: string) => read<Run>(service, `/runs/${id}`);
const endOf = (id: string) =>
  waitFor(async () => ((await runOf(id)).status === 'running' ? null : runOf(id)), {
    what: 'the end of a run',
    timeoutMs: 15_000,
  });

test.each(Object.keys(ATTACKS))(
  'a %s that is larger than a message cuts off no call of another tenant',
  async (name) => {
    const before = await start('pay');
    const attack = await start(name);
    const after = await start('pay');
    expect([await endOf(before), await endOf(after)]).toMatchObject([{ status: 'completed' }, { status: 'completed' }]);
    const ended = await endOf(attack);
    expect(ended).toMatchObject(name === 'prompt' ? { status: 'failed' } : { status: 'completed' });
    expect(JSON.stringify(ended)).toContain('the call is larger than 1048576 bytes');
  },
);
