import fc from 'fast-check';
import { expect, test } from 'vitest';
import { AgentEvent, AgentRunParams, AgentsList } from './agent-run.ts';
import { decodeFrame, MAX_FRAME_BYTES, RPC_ERRORS, rpcError, RpcRequest } from './rpc.ts';

test('a request, a notification and a response are told apart', () => {
  expect(decodeFrame('{"jsonrpc":"2.0","id":1,"method":"ping"}')).toMatchObject({ ok: true, kind: 'request' });
  expect(decodeFrame('{"jsonrpc":"2.0","method":"agent.event","params":{}}')).toMatchObject({
    ok: true,
    kind: 'request',
  });
  expect(decodeFrame('{"jsonrpc":"2.0","id":"a","result":null}')).toMatchObject({ ok: true, kind: 'response' });
  expect(decodeFrame('{"jsonrpc":"2.0","id":1,"error":{"code":-32010,"message":"full"}}')).toMatchObject({
    ok: true,
    kind: 'response',
  });
});

test.each(['"method not found"', '{"reason":"busy"}', 'null', '7', '{"type":"x","retryable":"yes"}'])(
  'an error that says more in words of its own is still the answer: %s',
  (data) => {
    const frame = `{"jsonrpc":"2.0","id":"s1","error":{"code":-32601,"message":"no","data":${data}}}`;
    expect(decodeFrame(frame)).toMatchObject({
      ok: true,
      kind: 'response',
      message: { id: 's1', error: { code: -32601, message: 'no', data: undefined } },
    });
  },
);

test.each<[string, number, unknown]>([
  ['', -32700, null],
  ['nonsense', -32700, null],
  ['[]', -32600, null],
  ['null', -32600, null],
  ['{"jsonrpc":"1.0","id":7,"method":"ping"}', -32600, 7],
  ['{"jsonrpc":"2.0","id":{},"method":"ping"}', -32600, null],
  ['{"jsonrpc":"2.0","id":3,"method":5}', -32600, 3],
  ['{"jsonrpc":"2.0","id":3}', -32600, 3],
  ['{"jsonrpc":"2.0","id":3,"result":1,"error":{"code":1,"message":"x"}}', -32600, 3],
  [`"${'x'.repeat(MAX_FRAME_BYTES)}"`, -32600, null],
])('the frame %.40j is answered with an error', (frame, code, id) => {
  expect(decodeFrame(frame)).toMatchObject({ ok: false, id, error: { code } });
});

test('any frame is decoded or answered, never thrown at', () => {
  const message = fc.record(
    {
      jsonrpc: fc.constantFrom('2.0', '1.0'),
      id: fc.anything(),
      method: fc.anything(),
      params: fc.jsonValue(),
      result: fc.jsonValue(),
      error: fc.jsonValue(),
    },
    { requiredKeys: [] },
  );
  const frame = fc.oneof(
    fc.string(),
    fc.json(),
    message.map((value) => JSON.stringify(value, (_key, item: unknown) => (typeof item === 'bigint' ? 1 : item))),
  );
  fc.assert(
    fc.property(frame, (text) => {
      const decoded = decodeFrame(text);
      if (!decoded.ok) expect(decoded.error.code).toBeLessThan(0);
    }),
  );
});

test('the check of a request by hand agrees with its schema', () => {
  const any = [fc.integer(), fc.double(), fc.string({ maxLength: 300 }), fc.constant(null), fc.constant({})];
  const fields = fc.record(
    {
      jsonrpc: fc.constantFrom('2.0', '2.0', '1.0', 2),
      id: fc.oneof(...any),
      method: fc.oneof(
        fc.constant('ping'),
        fc.string({ maxLength: 120 }),
        fc.string({ minLength: 90, maxLength: 110 }),
        ...any,
      ),
      params: fc.jsonValue(),
    },
    { requiredKeys: ['method'] },
  );
  fc.assert(
    fc.property(fields, (message) => {
      const text = JSON.stringify(message);
      const schema = RpcRequest.safeParse(JSON.parse(text));
      const decoded = decodeFrame(text);
      expect(decoded.ok).toBe(schema.success);
      if (decoded.ok) expect(decoded.message).toEqual(schema.data);
    }),
    { numRuns: 500 },
  );
});

test('a frame that was sent is the message that arrives', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string({ maxLength: 200 }), fc.maxSafeInteger()), fc.jsonValue(), (id, params) => {
      const sent = { jsonrpc: '2.0', id, method: 'agent.run', params } as const;
      const text = JSON.stringify(sent);
      expect(decodeFrame(text)).toEqual({
        ok: true,
        kind: 'request',
        message: JSON.parse(text) as unknown,
        depth: expect.any(Number),
      });
    }),
  );
});

test('every error code is there once and says whether to try again', () => {
  const codes = Object.values(RPC_ERRORS).map(({ code }) => code);
  expect(new Set(codes).size).toBe(codes.length);
  expect(rpcError('at_capacity', 'full', { retry_after_ms: 500 })).toEqual({
    code: -32010,
    message: 'full',
    data: { type: 'at_capacity', retryable: true, retry_after_ms: 500 },
  });
});

test('parameters of a run refuse what they do not know, events accept newer fields', () => {
  expect(AgentRunParams.safeParse({ agent: 'a', input: 'x', metadata: { run_id: '1', other: 1 } }).success).toBe(true);
  expect(AgentRunParams.safeParse({ agent: 'a', input: 'x', temprature: 1 }).success).toBe(false);
  expect(AgentRunParams.safeParse({ agent: '../a', input: 'x' }).success).toBe(false);
  expect(AgentEvent.safeParse({ event: 'queued', run_id: '1', ts: 'now', position: 2, more: true }).success).toBe(true);
  expect(AgentEvent.safeParse({ event: 'dancing', run_id: '1', ts: 'now' }).success).toBe(false);
});

test('a list without end is refused by its length, not by each entry', () => {
  const agents = Array.from({ length: 100_000 }, () => ({}));
  expect(AgentsList.safeParse({ agents }).error?.issues).toHaveLength(1);
});
