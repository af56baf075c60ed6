import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import type { StepExecution } from '../state/model.ts';
import { createWorld, hang, sure, type World, type WorldOptions } from '../fixtures/engine.ts';

let world: World;
const make = async (options: WorldOptions) => (world = await createWorld({ egressAllow: ['127.0.0.1'], ...options }));
afterEach(() => world.close());

let statuses: number[] = [];
let server: Server;
let base: string;
beforeAll(async () => {
  server = createServer((_request, response) => response.writeHead(statuses.shift() ?? 200).end('{}'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => server.close());

const agentStep = (more: string) =>
  `name: p\nsteps:\n  - {name: look, executor: gateway, agent: look, prompt_template: Look, ${more}}\n`;
const said = ({ rawResponse }: StepExecution) =>
  (rawResponse?.parts ?? []).map(({ part, iteration, attempt, error }) =>
    [part, iteration, attempt, ...(error === undefined ? [] : [error])].join(' '),
  );
/** Parts of one step never lie outside of it, and each begins where the one before has ended, or later. */
function inOrder({ startedAt, completedAt, rawResponse }: StepExecution): boolean {
  const times = (rawResponse?.parts ?? []).flatMap((part) => [part.startedAt, part.endedAt]);
  const all = [startedAt, ...times, completedAt ?? 0];
  return all.every((at, i) => i === 0 || at >= (all[i - 1] ?? 0));
}

test('every attempt, the pauses between them and every iteration are stored with their times', async () => {
  const answers = [
    { ok: false as const, type: 'provider_error', message: 'overloaded', retryable: true },
    sure(0.5),
    sure(0.9),
  ];
  await make({
    pipelines: [
      agentStep('retry: {attempts: 3, delay_seconds: 0.02}, loop_until: {confidence: 0.8, max_iterations: 3}'),
    ],
    agents: { look: () => answers.shift() ?? sure(1) },
  });
  const step = (await world.run('p')).step('look');
  expect(said(step)).toEqual(['attempt 1 1 provider_error: overloaded', 'pause 1 2', 'attempt 1 2', 'attempt 2 2']);
  expect(inOrder(step)).toBe(true);
  expect(step.rawResponse?.parts?.[0]?.unreported).toBe(true);
});

test('the wait for room in the backend is a part of its own', async () => {
  await make({
    pipelines: [agentStep('timeout_seconds: 20')],
    agents: {
      look: async ({ onEvent }) => {
        onEvent('queued', { position: 1 });
        await new Promise((resolve) => setImmediate(resolve));
        onEvent('started', {});
        onEvent('llm_call', { model: 'm' });
        return sure(0.9);
      },
    },
  });
  const run = await world.run('p');
  expect(said(run.step('look'))).toEqual(['queue 1 1', 'attempt 1 1']);
  expect(run.events.filter((event) => ['queued', 'started', 'llm_call'].includes(event))).toEqual([
    'queued',
    'started',
    'llm_call',
  ]);
});

test('a call that did not wait leaves no line of its start in the log', async () => {
  await make({
    pipelines: [agentStep('timeout_seconds: 20')],
    agents: { look: ({ onEvent }) => (onEvent('started', {}), sure(0.9)) },
  });
  expect((await world.run('p')).events).not.toContain('started');
});

test('a step that is refused before its agent is asked has no attempt', async () => {
  await make({
    pipelines: [
      'name: p\non_missing_value: fail\nsteps: [{name: look, executor: gateway, agent: a, prompt_template: "{{vars.x}}"}]',
    ],
    agents: { look: () => sure(1) },
  });
  expect((await world.run('p')).step('look').rawResponse?.parts).toEqual([]);
});

test('verifier, judge and checks have times of their own', async () => {
  await make({
    pipelines: [
      `name: p\nsteps:\n  - name: look\n    executor: gateway\n    agent: look\n    prompt_template: Look\n    verifier: {agent: reviewer}\n    grounding: {agent: judge}\n    deterministic_checks: [{type: webhook, name: up, method: GET, url: "${base}/up?token=abcdef&page=2", expect: "response.status == 200"}]\n`,
    ],
    agents: { look: () => sure(0.9), reviewer: () => sure(0.9), judge: () => sure(0.9, { score: 0.8 }) },
  });
  const { startedAt, completedAt, rawResponse, checks } = (await world.run('p')).step('look');
  for (const { startedAt: from, endedAt: to } of [rawResponse?.verifier, rawResponse?.grounding].map((said) => said!)) {
    expect(from).toBeGreaterThanOrEqual(startedAt);
    expect(to).toBeLessThanOrEqual(completedAt!);
    expect(to).toBeGreaterThanOrEqual(from!);
  }
  expect(rawResponse?.grounding?.sources).toEqual(['the prompt']);
  expect(checks[0]?.startedAt).toBeGreaterThanOrEqual(startedAt);
  expect(checks[0]?.request).toEqual({ method: 'GET', url: `${base}/up?token=***&page=2`, status: 200 });
});

test('each attempt of a webhook keeps its method, its URL without secrets and its status', async () => {
  statuses = [503, 404];
  await make({
    pipelines: [
      `name: p\nsteps:\n  - {name: call, executor: webhook, method: POST, url: "${base}/hook/\${ALLOWED}", payload: {a: 1}, retry: {attempts: 2, delay_seconds: 0.02}, on_failure: {policy: continue, webhook: {url: "${base}/tell"}}}\n`,
    ],
  });
  const step = (await world.run('p')).step('call');
  expect((step.rawResponse?.parts ?? []).map(({ part, request, error }) => [part, request?.status, error])).toEqual([
    ['attempt', 503, 'webhook_status: the webhook answered 503'],
    ['pause', undefined, undefined],
    ['attempt', 404, 'webhook_status: the webhook answered 404'],
    ['failure_webhook', 200, undefined],
  ]);
  expect(step.rawResponse?.parts?.[0]?.request).toEqual({ method: 'POST', url: `${base}/hook/***`, status: 503 });
});

test('an attempt of a webhook that ran out of time says which time, and which key sets it', async () => {
  const silent = createServer();
  const asked = new Promise((resolve) => silent.once('request', resolve));
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void [vi.useRealTimers(), silent.closeAllConnections(), silent.close()]);
  const url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}/`;
  await make({ pipelines: [`name: p\nsteps: [{name: call, executor: webhook, url: "${url}", method: GET}]`] });
  const id = await world.start('p');
  await asked;
  vi.advanceTimersByTime(30_000);
  const step = (await world.ended(id)).step('call');
  const message = 'no answer within 30 s, the timeout_seconds of the step';
  expect(said(step)).toEqual([`attempt 1 1 ${message}`]);
  expect(step.error).toEqual({ type: 'timeout', message });
});

test('a webhook that nobody answers has an attempt without a status', async () => {
  await make({
    pipelines: [
      'name: p\nsteps: [{name: call, executor: webhook, url: "http://127.0.0.1:1/", method: GET, on_failure: continue}]',
    ],
  });
  const [attempt] = (await world.run('p')).step('call').rawResponse?.parts ?? [];
  expect(attempt).toMatchObject({
    part: 'attempt',
    request: { method: 'GET', url: 'http://127.0.0.1:1/', status: null },
  });
});

test('a step that goes on after a restart says how long the service was away', async () => {
  await make({ pipelines: [agentStep('timeout_seconds: 20')], agents: { look: hang } });
  const id = await world.start('p');
  while (world.calls.length === 0) await new Promise((resolve) => setImmediate(resolve));
  world.agents['look'] = () => sure(0.9);
  await world.restart();
  await world.engine.resume();
  expect(said((await world.ended(id)).step('look'))).toEqual(['before_restart 1 1', 'attempt 1 1']);
});
