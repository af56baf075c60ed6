import { once } from 'node:events';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { RELOAD_TOKEN, startTestGateway, type TestGateway } from '../testing/start-test-gateway.ts';
import { until } from '../testing/until.ts';

const SLOW = 'Slow.\n```demo\ndelay_ms: 60000\nanswer: {confidence: 1, summary: late}\n```\n';
const QUICK = 'Quick.\n```demo\ndelay_ms: 100\nanswer: {confidence: 0.8, summary: "{{input}}"}\n```\n';

/** Each of 40 definitions is made of two of the next, so that a check takes 2^40 steps. */
const MULTIPLIES = {
  $ref: '#/$defs/n0',
  $defs: Object.fromEntries(
    Array.from({ length: 40 }, (_, index) => {
      const next = { $ref: `#/$defs/n${index + 1}` };
      return [`n${index}`, index === 39 ? { type: 'string' } : { anyOf: [next, next] }];
    }),
  ),
};

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway({
    agents: {
      quick: { soul: QUICK },
      slow: { soul: SLOW },
      limited: { soul: SLOW, config: { limits: { timeout_seconds: 1 } } },
    },
    config: {
      limits: { max_concurrent_runs: 2, max_queued_runs: 2 },
      server: { allowed_origins: ['https://ok.example'] },
    },
  });
});
afterAll(() => gateway.close());

describe('upgrade', () => {
  async function refusal(path: string, headers: Record<string, string>): Promise<[number | undefined, string]> {
    const socket = new WebSocket(gateway.url.replace('http', 'ws') + path, { headers });
    socket.on('error', () => {});
    const answered = once(socket, 'unexpected-response');
    const [request, response] = await Promise.race([
      answered,
      once(socket, 'open').then(() => expect.fail('it opened')),
    ]);
    const chunks = await response.toArray();
    request.destroy();
    return [response.statusCode, JSON.parse(String(Buffer.concat(chunks))).detail.type];
  }
  const bearer = { authorization: 'Bearer test-invoke-token-00' };

  test.each([
    ['no token', '/rpc', {}, [401, 'unauthorized']],
    ['a wrong token', '/rpc', { authorization: 'Bearer nope' }, [401, 'unauthorized']],
    ['a token in the query', '/rpc?token=test-invoke-token-00', {}, [401, 'unauthorized']],
    ['a browser of another origin', '/rpc', { ...bearer, origin: 'https://evil.example' }, [403, 'forbidden']],
    ['the reload token', '/rpc', { authorization: `Bearer ${RELOAD_TOKEN}` }, [403, 'forbidden']],
    ['another path', '/other', bearer, [404, 'not_found']],
  ])('%s is refused before it', async (_, path, headers, expected) => {
    expect(await refusal(path, headers as unknown as Record<string, string>)).toEqual(expected);
  });

  test('a listed origin may connect', async () => {
    const socket = new WebSocket(`${gateway.url.replace('http', 'ws')}/rpc`, {
      headers: { ...bearer, origin: 'https://ok.example' },
    });
    await once(socket, 'open');
    socket.terminate();
  });
});

describe('methods', () => {
  test('server.info lists them and agents.list the agents', async () => {
    const client = await gateway.rpc();
    expect((await client.call('server.info')).result).toMatchObject({
      protocol: 1,
      methods: ['server.info', 'ping', 'agents.list', 'agent.run', 'agent.attach', 'agent.cancel'],
    });
    const { result } = await client.call('agents.list', {});
    expect(result?.['agents']).toMatchObject([
      { name: 'limited' },
      { name: 'quick', model: 'demo/scripted' },
      { name: 'slow' },
    ]);
  });

  test('a run answers, after its events, with what it used', async () => {
    const client = await gateway.rpc();
    const { result } = await client.call('agent.run', { agent: 'quick', input: 'hello', trace: { stream: true } });
    expect(result).toMatchObject({
      status: 'completed',
      text: '{"confidence":0.8,"summary":"hello"}',
      output: null,
      stop_reason: 'stop',
      model: 'scripted',
      provider: 'demo',
      iterations: 1,
      tool_calls: 0,
      trace: [{ type: 'llm_call' }],
    });
    expect(client.events().map(({ event }) => event)).toEqual(['accepted', 'started', 'text', 'llm_call']);
  });

  test('an ended run is on record with its figures and its caller, and without what was said', async () => {
    const client = await gateway.rpc();
    const metadata = { run_id: 'r-1', pipeline: 'checkout', step_name: 'look', team: 'payments' };
    const { result } = await client.call('agent.run', { agent: 'quick', input: 'said in confidence', metadata });
    const recordOf = () => gateway.records.find(({ run_id }) => run_id === result?.['run_id']);
    await until(() => recordOf() !== undefined);
    expect(recordOf()).toEqual({
      msg: 'run ended',
      run_id: result?.['run_id'],
      agent: 'quick',
      agent_version: result?.['agent_version'],
      status: 'completed',
      seconds: expect.any(Number),
      provider: 'demo',
      model: 'scripted',
      input_tokens: expect.any(Number),
      output_tokens: expect.any(Number),
      caller_run: 'r-1',
      pipeline: 'checkout',
      step: 'look',
      team: 'payments',
      token: 'invoke',
      address: '127.0.0.1',
    });
    expect(JSON.stringify(gateway.records)).not.toContain('said in confidence');
  });

  test.each([
    ['an agent that is not there', { agent: 'nobody', input: '' }, -32004, 'not_found'],
    ['a name that is none', { agent: '../x', input: '' }, -32602, 'invalid_params'],
    ['an unknown parameter', { agent: 'quick', input: '', stream: true }, -32602, 'invalid_params'],
    ['a model of no provider', { agent: 'quick', input: '', model: 'nobody/m' }, -32602, 'invalid_params'],
    ['a schema that multiplies', { agent: 'quick', input: '', output_schema: MULTIPLIES }, -32602, 'invalid_params'],
    ['a schema that is none', { agent: 'quick', input: '', output_schema: { type: 7 } }, -32602, 'invalid_params'],
    ['no parameters', undefined, -32602, 'invalid_params'],
  ])('%s is an error with its code', async (_, params, code, type) => {
    const client = await gateway.rpc();
    const { error } = await client.call('agent.run', params);
    expect([error?.code, error?.data['type'], error?.data['retryable']]).toEqual([code, type, false]);
  });

  test.each([
    ['agent.run', { agent: 'nobody', input: '' }, 'there is no agent "nobody"; available: limited, quick, slow'],
    [
      'agent.run',
      { agent: 'quick', input: '', model: 'no/m' },
      'model: "no/m" maps to no configured provider; available: demo',
    ],
    ['agent.run', undefined, 'params: is required'],
    ['agent.run', [], 'params: expected object, received array'],
    ['agent.attach', {}, 'params: needs run_id or idempotency_key'],
    ['agent.attach', { run_id: 'x' }, 'there is no such run; a run is kept for at most one hour after its end'],
    [
      'agent.stop',
      {},
      'there is no method "agent.stop"; available: server.info, ping, agents.list, agent.run, agent.attach, agent.cancel',
    ],
  ])('%s with %j says what to do', async (method, params, message) => {
    expect((await (await gateway.rpc()).call(method, params)).error?.message).toBe(message);
  });

  test('a run is over at its deadline, the caller’s or the agent’s', async () => {
    const client = await gateway.rpc();
    const own = client.call('agent.run', { agent: 'limited', input: '' });
    const given = await client.call('agent.run', { agent: 'slow', input: '', timeout_ms: 20 });
    expect([given.error?.code, given.error?.data['retryable']]).toEqual([-32011, true]);
    expect((await own).error?.data['type']).toBe('timeout');
  });

  test('a cancelled run ends at once, by its id or by its key', async () => {
    const client = await gateway.rpc();
    const byId = client.call('agent.run', { agent: 'slow', input: 'a' });
    const { run_id } = await client.event('started');
    expect((await client.call('agent.cancel', { run_id })).result).toEqual({ cancelled: true });
    expect((await byId).error?.code).toBe(-32012);
    const byKey = client.call('agent.run', { agent: 'slow', input: 'b', idempotency_key: 'cancel-me' });
    expect((await client.call('agent.cancel', { idempotency_key: 'cancel-me' })).result).toEqual({ cancelled: true });
    expect((await byKey).error?.data['type']).toBe('cancelled');
    expect((await client.call('agent.cancel', { run_id })).result).toEqual({ cancelled: false });
    expect((await client.call('agent.cancel', { run_id: 'unknown' })).error?.code).toBe(-32004);
  });
});

describe('the cap', () => {
  test('runs beyond it wait in order, hear their place, and the queue has an end', async () => {
    const client = await gateway.rpc();
    const start = (key: string) => client.call('agent.run', { agent: 'slow', input: key, idempotency_key: key });
    const running = [start('c1'), start('c2')];
    await until(() => client.events().filter(({ event }) => event === 'started').length === 2);
    const waiting = [start('c3'), start('c4')];
    await until(() => client.events().filter(({ event }) => event === 'queued').length === 2);
    const full = await start('c5');
    expect([full.error?.code, full.error?.data]).toMatchObject([
      -32010,
      { type: 'at_capacity', retryable: true, retry_after_ms: 1000 },
    ]);
    expect((await gateway.http('GET', '/health')).body).toMatchObject({ active_runs: 2, max_concurrent_runs: 2 });
    const { body: metrics } = await gateway.http('GET', '/metrics');
    expect(metrics).toContain('gateway_runs_refused_total{reason="at_capacity"} 1');
    expect(metrics).toContain('gateway_queued_runs 2');

    await client.call('agent.cancel', { idempotency_key: 'c1' });
    const places = () =>
      client
        .events()
        .filter(({ event }) => event === 'queued')
        .map((event) => [event['idempotency_key'], event['position']]);
    await until(() => places().length === 3);
    expect(places()).toEqual([
      ['c3', 1],
      ['c4', 2],
      ['c4', 1],
    ]);
    for (const key of ['c2', 'c3', 'c4']) await client.call('agent.cancel', { idempotency_key: key });
    expect((await Promise.all([...running, ...waiting])).map(({ error }) => error?.code)).toEqual([
      -32012, -32012, -32012, -32012,
    ]);
    expect((await gateway.http('GET', '/health')).body.active_runs).toBe(0);
  });
});

describe('idempotency', () => {
  test('the same key and parameters meet the same run, now and later, from any connection', async () => {
    const [first, second] = [await gateway.rpc(), await gateway.rpc()];
    const params = { agent: 'quick', input: 'once', idempotency_key: 'k1' };
    const answers = await Promise.all([
      first.call('agent.run', params),
      second.call('agent.run', { ...params, timeout_ms: 5000 }),
    ]);
    const later = await second.call('agent.run', params);
    const attached = await second.call('agent.attach', { idempotency_key: 'k1' });
    const ids = [...answers, later, attached].map(({ result }) => result?.['run_id']);
    expect(new Set(ids).size).toBe(1);
    expect(attached.result).toEqual(later.result);
  });

  test('the same key with other parameters is a duplicate', async () => {
    const client = await gateway.rpc();
    await client.call('agent.run', { agent: 'quick', input: 'one', idempotency_key: 'k2' });
    const { error } = await client.call('agent.run', { agent: 'quick', input: 'two', idempotency_key: 'k2' });
    expect([error?.code, error?.data['type']]).toEqual([-32009, 'duplicate']);
  });

  test('a run with a key survives its connection and is attached to again', async () => {
    const before = await gateway.rpc();
    void before.call('agent.run', { agent: 'quick', input: 'kept', idempotency_key: 'k3' });
    const { run_id } = await before.event('started');
    before.close();
    const after = await gateway.rpc();
    const { result } = await after.call('agent.attach', { run_id });
    expect(result).toMatchObject({ run_id, status: 'completed' });
  });
});

describe('hostile frames', () => {
  test.each([
    ['no JSON', '{', -32700],
    ['a batch', '[{"jsonrpc":"2.0","id":1,"method":"ping"}]', -32600, 'one message a frame'],
    ['another version', '{"jsonrpc":"1.0","id":1,"method":"ping"}', -32600],
    ['a method that is no text', '{"jsonrpc":"2.0","id":1,"method":7}', -32600],
    ['an id that is an object', '{"jsonrpc":"2.0","id":{},"method":"ping"}', -32600],
    ['an unknown method', '{"jsonrpc":"2.0","id":1,"method":"__proto__"}', -32601],
    ['depth', `{"jsonrpc":"2.0","id":1,"method":"ping","params":${'['.repeat(40_000)}${']'.repeat(40_000)}}`, -32600],
  ])('%s gets an error frame and the connection goes on', async (_, frame, code, message = '') => {
    const client = await gateway.rpc();
    client.socket.send(frame);
    const answer = await until(() => client.messages[0]);
    expect(answer.error).toMatchObject({ code, message: expect.stringContaining(message) });
    expect((await client.call('ping')).result).toEqual({ pong: true });
  });

  test('an oversized frame, or one of too many values and names of fields, closes with 1009 and a binary one with 1003', async () => {
    const large = await gateway.rpc();
    large.socket.send('x'.repeat(1024 * 1024 + 1));
    expect(await until(() => large.closeCode)).toBe(1009);
    const wide = await gateway.rpc();
    wide.socket.send(`{"jsonrpc":"2.0","id":1,"method":"ping","params":[${'0,'.repeat(50_000)}0]}`);
    expect(await until(() => wide.closeCode)).toBe(1009);
    const named = await gateway.rpc();
    named.socket.send(`{"jsonrpc":"2.0","id":1,"method":"ping","params":{${'"a":0,'.repeat(25_000)}"b":0}}`);
    expect(await until(() => named.closeCode)).toBe(1009);
    const binary = await gateway.rpc();
    binary.socket.send(Buffer.from('{}'));
    expect(await until(() => binary.closeCode)).toBe(1003);
  });

  test('no text brings the service down or leaves the connection without an answer', async () => {
    const client = await gateway.rpc();
    const frame = fc.oneof(
      fc.string(),
      fc.json(),
      fc.jsonValue().map((params) => JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'agent.run', params })),
    );
    await fc.assert(
      fc.asyncProperty(frame, async (text) => {
        client.socket.send(text);
        return (await client.call('ping')).result?.['pong'] === true;
      }),
      { numRuns: 300 },
    );
    expect(gateway.errors).toEqual([]);
  });

  test('a client that never reads is cut off', async () => {
    const client = await gateway.rpc();
    client.socket.pause();
    const ask = () => {
      for (let count = 0; count < 5000; count++) client.socket.send('{"jsonrpc":"2.0","id":1,"method":"server.info"}');
    };
    const connections = async () =>
      /gateway_rpc_connections (\d+)/.exec((await gateway.http('GET', '/metrics')).body)?.[1];
    const before = Number(await connections());
    await until(async () => {
      ask();
      return Number(await connections()) < before;
    }, 50_000);
  }, 60_000);
});
