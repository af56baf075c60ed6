import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { APPROVE_TOKEN, INVOKE_TOKEN, startTestGateway, type TestGateway } from '../testing/start-test-gateway.ts';
import { until } from '../testing/until.ts';

const TOOL_SERVER = join(import.meta.dirname, '../testing/misbehaving-server.ts');
const CAREFUL = {
  config: { tools: ['host'], require_approval: ['host/ok'] },
  soul: '```demo\ncalls: [{tool: host/ok, input: {a: 1}}]\nanswer: {confidence: 1, summary: "{{results.0}} {{results.0.error}}"}\n```\n',
};
const RUN = { agent: 'careful', input: '', idempotency_key: 'run-1/step/1' };

let gateway: TestGateway;
afterEach(() => gateway.close());

async function open(approveToken: string | null, config: object = {}): Promise<void> {
  gateway = await startTestGateway({
    tokens: { approve: approveToken },
    agents: { careful: CAREFUL, slow: { soul: '```demo\ndelay_ms: 60000\nanswer: {confidence: 1}\n```\n' } },
    config: { mcp_servers: { host: { command: process.execPath, args: [TOOL_SERVER] } }, ...config },
  });
}

async function client(token: string, approves: boolean) {
  const opened = await gateway.rpc(token);
  if (approves) opened.onRequest = ({ params }) => ({ approved: true, input_sha256: params?.['input_sha256'] });
  return opened;
}
type Client = Awaited<ReturnType<typeof client>>;
const wasAsked = ({ messages }: Client) => messages.some(({ method }) => method === 'tool.request_approval');
const attach = (to: Client) => to.call('agent.attach', { idempotency_key: RUN.idempotency_key });

/** Starts the run and waits until its starter is asked. */
async function started(token: string) {
  const starter = await client(token, false);
  const answer = starter.call('agent.run', RUN);
  await until(() => wasAsked(starter));
  return { starter, answer };
}

describe('without an approve token', () => {
  test('a connection that attaches never answers, and the call is denied once its starter is gone', async () => {
    await open(null);
    const { starter } = await started(INVOKE_TOKEN);
    const attacker = await client(INVOKE_TOKEN, true);
    const seen = attach(attacker);
    starter.close();
    expect((await seen).result?.['text']).toContain('the connection that started the run is gone');
    expect(wasAsked(attacker)).toBe(false);
    expect(attacker.events().some(({ event }) => event === 'tool_call')).toBe(false);
  });

  test('the same run requested from another connection gives no right either', async () => {
    await open(null);
    const { starter } = await started(INVOKE_TOKEN);
    const attacker = await client(INVOKE_TOKEN, true);
    const seen = attacker.call('agent.run', RUN);
    starter.close();
    expect((await seen).result?.['text']).toContain('not allowed');
    expect(wasAsked(attacker)).toBe(false);
  });

  test('the connection that started the run answers', async () => {
    await open(null);
    const starter = await client(INVOKE_TOKEN, true);
    expect((await starter.call('agent.run', RUN)).result?.['text']).toContain('got');
  });
});

describe('with an approve token', () => {
  test('an invoke connection is not asked about a run that it started', async () => {
    await open(APPROVE_TOKEN);
    const starter = await client(INVOKE_TOKEN, true);
    expect((await starter.call('agent.run', RUN)).result?.['text']).toContain('approve token');
    expect(wasAsked(starter)).toBe(false);
  });

  test('an invoke connection neither follows nor cancels a run of the api-server, and a new approve connection answers', async () => {
    await open(APPROVE_TOKEN);
    const { starter } = await started(APPROVE_TOKEN);
    const { run_id } = await starter.event('started');
    const attacker = await client(INVOKE_TOKEN, true);
    for (const method of ['agent.attach', 'agent.cancel'])
      for (const reference of [{ run_id }, { idempotency_key: RUN.idempotency_key }])
        expect((await attacker.call(method, reference)).error?.data['type']).toBe('not_found');
    starter.close();
    const restarted = await client(APPROVE_TOKEN, true);
    expect((await attach(restarted)).result?.['text']).toContain('got');
    expect(attacker.events()).toEqual([]);
  });

  test('a key that an invoke connection took first is free for the api-server', async () => {
    await open(APPROVE_TOKEN);
    const attacker = await client(INVOKE_TOKEN, true);
    const taken = await attacker.call('agent.run', { ...RUN, input: 'another input' });
    const server = await client(APPROVE_TOKEN, true);
    expect((await server.call('agent.run', RUN)).result?.['text']).toContain('got');
    expect((await attacker.call('agent.attach', { idempotency_key: RUN.idempotency_key })).result).toEqual(
      taken.result,
    );
  });

  test('an approve connection follows a run that another token started', async () => {
    await open(APPROVE_TOKEN);
    const slow = await client(INVOKE_TOKEN, false);
    const { result } = await slow.call('agent.run', RUN);
    const server = await client(APPROVE_TOKEN, true);
    expect((await server.call('agent.attach', { run_id: result?.['run_id'] })).result).toEqual(result);
  });

  test('an invoke connection that invents namespaces leaves the api-server a slot', async () => {
    await open(APPROVE_TOKEN, { limits: { max_concurrent_runs: 4 } });
    const attacker = await client(INVOKE_TOKEN, false);
    for (const nth of [1, 2, 3, 4])
      void attacker.call('agent.run', { agent: 'slow', input: '', metadata: { namespace: `invented-${nth}` } });
    await until(() => attacker.events().filter(({ event }) => event === 'accepted').length === 4);
    expect((await gateway.http('GET', '/health')).body.active_runs).toBe(3);
  });

  test('it opens what the invoke token opens, and nothing of an admin', async () => {
    await open(APPROVE_TOKEN);
    expect((await gateway.http('GET', '/agents', { token: APPROVE_TOKEN })).status).toBe(200);
    expect(await gateway.http('DELETE', '/agents/careful', { token: APPROVE_TOKEN })).toMatchObject({
      status: 403,
      body: { detail: { message: 'the approve token lacks the scope admin' } },
    });
  });
});

test.each([
  ['no hash', undefined],
  ['the hash of another input', '015abd7f5cc57a2dd94b7590f04ad8084273905ee33ec5cebeae62276a97f863'],
])('an approval with %s calls no tool', async (_, input_sha256) => {
  await open(null);
  const starter = await client(INVOKE_TOKEN, false);
  starter.onRequest = () => ({ approved: true, input_sha256 });
  expect((await starter.call('agent.run', RUN)).result?.['text']).toContain('the approval is not for this input');
  expect(starter.events().some(({ event }) => event === 'tool_call')).toBe(false);
});

test.each([
  [null, INVOKE_TOKEN, 'own'],
  [APPROVE_TOKEN, INVOKE_TOKEN, 'none'],
  [APPROVE_TOKEN, APPROVE_TOKEN, 'all'],
])('with the approve token %s a connection with %s learns its right: %s', async (approveToken, token, right) => {
  await open(approveToken);
  const { result } = await (await client(token, false)).call('server.info', {});
  expect(result?.['approvals']).toBe(right);
});
