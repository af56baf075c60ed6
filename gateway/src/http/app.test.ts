import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  ADMIN_TOKEN,
  INVOKE_TOKEN,
  RELOAD_TOKEN,
  startTestGateway,
  type TestGateway,
} from '../testing/start-test-gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway({ agents: { triage: {} } });
});
afterAll(() => gateway.close());

/** Scopes of the specification, written out a second time on purpose. */
const SCOPES: Record<string, 'open' | 'invoke' | 'reload' | 'admin'> = {
  'GET /health': 'open',
  'GET /metrics': 'open',
  'GET /agents': 'invoke',
  'GET /agents/{name}': 'invoke',
  'GET /agents/{name}/soul': 'invoke',
  'GET /agents/{name}/agent': 'invoke',
  'GET /providers': 'invoke',
  'GET /managed-agents': 'invoke',
  'GET /runner-key': 'invoke',
  'GET /mcp/servers': 'invoke',
  'GET /mcp/tools': 'invoke',
  'GET /tool-policy': 'invoke',
  'GET /openapi.json': 'invoke',
  'POST /agents': 'admin',
  'PUT /agents/{name}': 'admin',
  'DELETE /agents/{name}': 'admin',
  'POST /agents/validate': 'admin',
  'POST /tool-policy/test': 'admin',
  'POST /reload': 'reload',
};

async function documentedRoutes(): Promise<string[]> {
  const { body } = await gateway.http('GET', '/openapi.json');
  const paths = body.paths as Record<string, Record<string, unknown>>;
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );
}

test('a refusal is on record with its reason, route and address, and no token is', async () => {
  const from = gateway.records.length;
  await gateway.http('DELETE', '/agents/triage', { token: INVOKE_TOKEN });
  await gateway.http('GET', '/agents/triage', { token: 'a-token-of-nobody' });
  await gateway.http('GET', '/nowhere', { token: null });
  const refused = { msg: 'request refused', address: '127.0.0.1' };
  expect(gateway.records.slice(from)).toEqual([
    { ...refused, reason: 'scope', route: 'DELETE /agents/:name' },
    { ...refused, reason: 'invalid', route: 'GET /agents/:name' },
    { ...refused, reason: 'missing', route: 'GET unknown' },
  ]);
  expect(JSON.stringify(gateway.records)).not.toContain('a-token-of-nobody');
});

test('every route of the document has a scope in the table and the other way round', async () => {
  expect((await documentedRoutes()).toSorted()).toEqual(Object.keys(SCOPES).toSorted());
});

describe.each(Object.entries(SCOPES))('%s', (route, scope) => {
  const [method = '', path = ''] = route.split(' ');
  const target = path.replace('{name}', 'absent');
  const ask = (token: string | null) => gateway.http(method, target, { token });

  test('without a token', async () => {
    const { status, body } = await ask(null);
    if (scope === 'open') return expect(status).toBe(200);
    expect(status).toBe(401);
    expect(body.detail).toEqual({ type: 'unauthorized', message: 'a bearer token is required' });
  });

  test('with a wrong token', async () => {
    const { status, body } = await ask('wrong');
    if (scope === 'open') return expect(status).toBe(200);
    expect(status).toBe(401);
    expect(body.detail).toEqual({ type: 'unauthorized', message: 'the token is invalid' });
  });

  test('with the invoke token', async () => {
    const { status, body } = await ask(INVOKE_TOKEN);
    if (scope === 'admin' || scope === 'reload') {
      expect(status).toBe(403);
      expect(body.detail).toEqual({ type: 'forbidden', message: 'the invoke token lacks the scope admin' });
    } else expect([200, 404]).toContain(status);
  });

  test('with the reload token', async () => {
    const { status } = await ask(RELOAD_TOKEN);
    expect(status).toBe(scope === 'open' || scope === 'reload' ? 200 : 403);
  });

  test('with the admin token', async () => {
    const { status } = await ask(ADMIN_TOKEN);
    expect([200, 400, 404]).toContain(status);
  });
});

describe('bad requests', () => {
  test.each([
    ['a body that is no JSON', '{"name":', 400],
    ['a body that is no object', '[1]', 400],
    ['an unknown key', '{"agent_yaml":"","soul":"x"}', 400],
    ['a prototype key', '{"agent_yaml":"","__proto__":{"a":1}}', 400],
    ['a large body', `{"agent_yaml":"${'x'.repeat(3_000_000)}"}`, 413],
  ])('%s is refused as validation', async (_, body, status) => {
    const answer = await gateway.http('POST', '/agents/validate', { body });
    expect(answer.status).toBe(status);
    expect(answer.body.detail.type).toBe('validation');
  });

  test('each problem of a body is named in plain words', async () => {
    const answer = await gateway.http('POST', '/agents/validate', { body: { agent_yaml: 5, soul: 'x', prompt: 'y' } });
    const item = { agent: '', value: null, severity: 'error' };
    expect(answer.body.detail).toEqual({
      type: 'validation',
      message: 'agent_yaml: expected string, received number',
      errors: [
        { ...item, field: 'agent_yaml', value: 5, message: 'expected string, received number' },
        { ...item, field: 'soul', message: 'unknown key' },
        { ...item, field: 'prompt', message: 'unknown key' },
      ],
    });
  });

  test('an unknown route is 404 for who has a token and 401 for who has none', async () => {
    expect((await gateway.http('GET', '/nothing')).body.detail.type).toBe('not_found');
    expect((await gateway.http('GET', '/nothing', { token: null })).status).toBe(401);
  });

  test('every validation error lists its problems, those of a body that is no JSON too', async () => {
    for (const body of ['{"name":', 'null', '[1]', `{"agent_yaml":"${'x'.repeat(3_000_000)}"}`]) {
      const { detail } = (await gateway.http('POST', '/agents/validate', { body })).body;
      expect(detail).toMatchObject({
        type: 'validation',
        errors: [{ message: expect.any(String), severity: 'error' }],
      });
    }
  });

  test.each([
    ['DELETE', '/agents/absent', 404, 'not_found'],
    ['POST', '/agents', 400, 'validation'],
    ['PUT', '/agents/absent', 404, 'not_found'],
  ])('%s %s with the type of JSON and no body is read as one without', async (method, path, status, type) => {
    const answer = await gateway.http(method, path, { body: '' });
    expect([answer.status, answer.body.detail.type]).toEqual([status, type]);
  });

  test.each(['application/json', 'application/x-www-form-urlencoded', 'text/plain'])(
    'a reload of type %s without a body reloads',
    async (type) => {
      const headers = { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': type };
      const answer = await fetch(`${gateway.url}/reload`, { method: 'POST', headers, body: '' });
      expect(await answer.json()).toMatchObject({ status: 'reloaded' });
    },
  );

  test('a body of another type than JSON is refused', async () => {
    const headers = { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/x-www-form-urlencoded' };
    const answer = await fetch(`${gateway.url}/agents`, { method: 'POST', headers, body: 'name=x' });
    expect([answer.status, await answer.json()]).toMatchObject([400, { detail: { type: 'validation' } }]);
  });

  test('an address that cannot be decoded is refused in the same envelope, and only to who has a token', async () => {
    const { status, body } = await gateway.http('GET', '/agents/%zz');
    expect([status, body.detail.type]).toEqual([400, 'validation']);
    expect((await gateway.http('GET', '/agents/%zz', { token: null })).status).toBe(401);
  });

  test('a token is asked for before a body is read, on a route that is not there too', async () => {
    for (const path of ['/agents', '/nothing'])
      expect((await gateway.http('PATCH', path, { token: null, body: '{' })).status).toBe(401);
  });

  test('/rpc says that it is no route of REST', async () => {
    const { status, body } = await gateway.http('GET', '/rpc');
    expect([status, body.detail.type]).toEqual([404, 'not_found']);
    expect(body.detail.message).toContain('WebSocket');
  });

  test.each([
    ['h2c', 'GET', '/agents', 200],
    ['h2c', 'GET', '/health', 200],
    ['TLS/1.0', 'POST', '/reload', 200],
  ])('an offer to go on in %s is passed over: %s %s', async (upgrade, method, path, status) => {
    const headers = { authorization: `Bearer ${ADMIN_TOKEN}`, connection: 'Upgrade, HTTP2-Settings', upgrade };
    const asked = request(gateway.url + path, { method, headers }).end();
    const [answer] = (await once(asked, 'response')) as [IncomingMessage];
    answer.resume();
    expect(answer.statusCode).toBe(status);
  });

  test('a name of any length is a name that is not there', async () => {
    for (const length of [65, 101, 2000])
      expect((await gateway.http('GET', `/agents/${'a'.repeat(length)}`)).body.detail.type).toBe('not_found');
  });

  test.each([
    ['no HTTP', 'nonsense\r\n\r\n', '400', 'validation'],
    ['headers without end', `GET /health HTTP/1.1\r\nx: ${'x'.repeat(20_000)}\r\n\r\n`, '431', 'validation'],
  ])('%s is answered in the same envelope', async (_, text, status, type) => {
    const socket = connect(Number(new URL(gateway.url).port), '127.0.0.1');
    socket.end(text);
    const answer = String(Buffer.concat(await socket.toArray()));
    expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(JSON.parse(answer.split('\r\n\r\n')[1] ?? '').detail).toMatchObject({
      type,
      errors: [{ message: expect.any(String), severity: 'error' }],
    });
  });

  test.each([
    ['{"agent_yaml": "name: x\nmodel: m"}', /^the body is not JSON: Bad control character .* position 23/],
    ['{"agent_yaml":', /^the body is not JSON: Unexpected end of JSON input/],
    ['{"agent_yaml":"","__proto__":{}}', /^the body has a key that is not accepted: __proto__/],
  ])('a body that is no JSON is told where: %j', async (body, message) => {
    const { detail } = (await gateway.http('POST', '/agents/validate', { body })).body;
    expect(detail).toMatchObject({ type: 'validation', message: expect.stringMatching(message) });
    expect(detail.errors[0].message).toBe(detail.message);
  });

  test('what is wrong with a change is said of the agent that it was for', async () => {
    const { body } = await gateway.http('PUT', '/agents/greeter', { body: { soul_md: 5 } });
    expect(body.detail.errors).toMatchObject([{ agent: 'greeter', field: 'soul_md' }]);
  });

  test('nothing of it was logged as a bug', () => {
    expect(gateway.errors).toEqual([]);
  });
});

test('metrics need a token when the operator says so', async () => {
  const guarded = await startTestGateway({ config: { server: { metrics_auth: true } } });
  try {
    expect((await guarded.http('GET', '/metrics', { token: null })).status).toBe(401);
    const { status, body } = await guarded.http('GET', '/metrics', { token: INVOKE_TOKEN });
    expect(status).toBe(200);
    expect(body).toContain('gateway_auth_failures_total{reason="missing"} 1');
  } finally {
    await guarded.close();
  }
});
