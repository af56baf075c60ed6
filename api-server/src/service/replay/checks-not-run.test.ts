import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Tenant } from '@signalbox/crds';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { sure } from '../../runs/fixtures/engine.ts';
import { type ReplayOptions, type ReplayServer, startReplayServer } from '../../web/fixtures/replays.ts';

let site: ReplayServer;
let receiver: Server;
/** Requests that the checks sent. */
let sent: string[];

beforeEach(async () => {
  sent = [];
  receiver = createServer(({ method, url }, response) => {
    sent.push(`${method} ${url}`);
    response.writeHead(500).end('{}');
  }).listen(0, '127.0.0.1');
  await once(receiver, 'listening');
  site = await start({ egressAllow: ['127.0.0.1'], namespaces: { shop: {} } });
});
const start = (options: ReplayOptions) => {
  const { port } = receiver.address() as AddressInfo;
  return startReplayServer({ pipelines: [pipelineAt(port)], agents: { investigator: () => sure(0.9) }, ...options });
};
afterEach(async () => {
  await site.close();
  receiver.closeAllConnections();
  receiver.close();
});

/** One check reads and fails, one writes, one runs a command. */
const pipelineAt = (port: number) => `
name: checkout
stage: production
steps:
  - name: look
    executor: gateway
    agent: investigator
    prompt_template: look
    deterministic_checks:
      - {name: reads, type: webhook, url: 'http://127.0.0.1:${port}/read', expect: response.status == 200}
      - {name: closes, type: webhook, method: POST, url: 'http://127.0.0.1:${port}/close', expect: response.status == 200}
      - {name: command, type: shell, run: 'exit 0', expect: exit_code == 0}
`;

/** As if an object of this namespace had been written as the definition. */
function giveTo(namespace: string, tenant: Tenant | null) {
  const { pipelines } = site.world;
  const pipeline = pipelines.get('checkout');
  if (pipeline) pipelines.set('checkout', { ...pipeline, standing: { namespace, admitted: tenant !== null, tenant } });
}

/** A recorded run, whose checks sent both requests. */
async function record() {
  await site.record();
  expect(sent.splice(0).toSorted()).toEqual(['GET /read', 'POST /close']);
}

test('the replay of a step sends no POST check, names it, and counts it as neither passed nor failed', async () => {
  await record();
  const report = await site.replay();
  expect(sent).toEqual(['GET /read']);
  expect(report).toMatchObject({ checks_not_run: ['closes'], rows: [{ deterministic_passed: false }] });
  const { steps } = await site.world.ended(report.run_id);
  expect(steps[0]?.checks.map(({ name, passed }) => [name, passed])).toEqual([
    ['reads', false],
    ['command', true],
  ]);
});

const WAYS = [
  ['a step', () => site.replay()],
  [
    'a range',
    async () => {
      const body = { from_step: 'look', to_step: 'look', candidate: { look: { model: 'm2' } } };
      const started = await site.send('POST', '/pipelines/checkout/replay', { body });
      return site.report(started.body.run_id);
    },
  ],
] as const;

test.each(WAYS)(
  'the replay of %s of runs of the operator sends no request of a namespace that is not listed',
  async (_, replay) => {
    await record();
    giveTo('mallory', null);
    // Its addresses would be public ones, which no test reaches.
    expect(JSON.stringify(await replay())).toContain('"reads","closes"');
  },
);

test.each(WAYS)('the replay of %s of runs of another namespace sends no request of its author', async (_, replay) => {
  await record();
  giveTo('shop', {});
  const report = await replay();
  expect(sent).toEqual([]);
  expect(JSON.stringify(report)).toContain('"reads","closes"');
  await site.record();
  expect(sent.splice(0)).toHaveLength(2);
  await replay();
  expect(sent).toEqual([]);
});

test('the replay of a tenant’s own runs sends what they may send, to the addresses of its namespace', async () => {
  await site.close();
  const tenant = { egress_allow: ['127.0.0.1'] };
  site = await start({ namespaces: { shop: tenant } });
  giveTo('shop', tenant);
  await record();
  await site.replay();
  expect(sent).toEqual(['GET /read']);
});

test('the replay of a range sends no POST check and runs no command', async () => {
  await record();
  const started = await site.send('POST', '/pipelines/checkout/replay', {
    body: { from_step: 'look', to_step: 'look', candidate: { look: { model: 'm2' } } },
  });
  const report = await site.report(started.body.run_id);
  expect(sent).toEqual(['GET /read']);
  expect(report.steps).toMatchObject([{ step_name: 'look', checks_not_run: ['closes', 'command'] }]);
  const { steps } = await site.world.ended(report.run_id);
  expect(steps[0]?.checks.map(({ name }) => name)).toEqual(['reads']);
});
