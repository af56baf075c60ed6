import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { INVOKE_TOKEN, startTestGateway, type TestGateway } from '../../testing/start-test-gateway.ts';

let gateway: TestGateway;
beforeEach(async () => {
  gateway = await startTestGateway({
    agents: { triage: { soul: 'You triage.' } },
    config: { server: { pod_name: 'gateway-1' }, mcp_servers: { down: { command: '/nonexistent/tool-server' } } },
  });
});
afterEach(() => gateway.close());

const yaml = (name: string, extra = '') => `name: ${name}\nmodel: demo/scripted\n${extra}`;
const fileOf = (name: string, file: string) => join(gateway.directory, 'agents', name, file);

test('an agent is created, live at once and on disk as sent', async () => {
  const agent_yaml = yaml('fresh', 'description: new\n');
  const created = await gateway.http('POST', '/agents', { body: { name: 'fresh', agent_yaml, soul_md: 'Soul\n' } });
  expect(created.status).toBe(200);
  expect(created.body).toEqual({
    agent: { name: 'fresh', agent_yaml, soul_md: 'Soul\n' },
    committed: false,
    note: expect.any(String),
  });
  expect(readFileSync(fileOf('fresh', 'agent.yaml'), 'utf8')).toBe(agent_yaml);
  const { body } = await gateway.http('GET', '/agents');
  expect(body.agents.map(({ name }: { name: string }) => name)).toEqual(['fresh', 'triage']);
  expect(body.agents[0]).toMatchObject({
    model: 'demo/scripted',
    model_fallbacks: [],
    tools: [],
    version: expect.stringMatching(/^[0-9a-f]{12}$/),
  });
});

test('the list of agents comes with the name of the pod, for the status of objects; nothing else does', async () => {
  const headers = { authorization: `Bearer ${INVOKE_TOKEN}` };
  const podOf = async (path: string) => (await fetch(gateway.url + path, { headers })).headers.get('x-signalbox-pod');
  expect([await podOf('/agents'), await podOf('/agents/triage'), await podOf('/health')]).toEqual([
    'gateway-1',
    null,
    null,
  ]);
});

test('an existing name needs overwrite', async () => {
  const body = { name: 'triage', agent_yaml: yaml('triage'), soul_md: 'Other' };
  const refused = await gateway.http('POST', '/agents', { body });
  expect([refused.status, refused.body.detail.type]).toEqual([409, 'collision']);
  expect(readFileSync(fileOf('triage', 'soul.md'), 'utf8')).toBe('You triage.');
  expect((await gateway.http('POST', '/agents', { body: { ...body, overwrite: true } })).status).toBe(200);
  expect((await gateway.http('GET', '/agents/triage/soul')).body).toEqual({ name: 'triage', content: 'Other' });
});

test('a change of one file leaves the other and changes the version', async () => {
  const before = (await gateway.http('GET', '/agents/triage')).body;
  expect((await gateway.http('PUT', '/agents/triage', { body: { soul_md: 'You triage better.' } })).status).toBe(200);
  const after = (await gateway.http('GET', '/agents/triage')).body;
  expect(after.agent_yaml).toBe(before.agent_yaml);
  expect(after.soul_md).toBe('You triage better.');
  expect(after.version).not.toBe(before.version);
});

test('a delete answers with what the files said', async () => {
  const { status, body } = await gateway.http('DELETE', '/agents/triage');
  expect(status).toBe(200);
  expect(body).toMatchObject({ deleted: 'triage', soul_md: 'You triage.', committed: false });
  expect(existsSync(join(gateway.directory, 'agents', 'triage'))).toBe(false);
  expect((await gateway.http('DELETE', '/agents/triage')).status).toBe(404);
});

test.each([
  ['a model of no provider', yaml('x').replace('demo/', 'nobody/'), 'model', 'nobody/scripted'],
  ['a fallback of no provider', yaml('x', 'model_fallbacks: [nobody/m]'), 'model_fallbacks', 'nobody/m'],
  ['a tool server that is not configured', yaml('x', 'tools: [nothing/*]'), 'tools', 'nothing/*'],
  ['an unknown key', yaml('x', 'temprature: 1'), 'temprature', null],
  ['a value out of range', yaml('x', 'temperature: 3'), 'temperature', 3],
  ['another name', yaml('y'), 'name', 'y'],
  ['a schema that is none', yaml('x', 'output_schema: {type: 12}'), 'output_schema', null],
  ['text that is no YAML', 'a: [', 'agent_yaml', null],
  ['a list', '- a', 'agent_yaml', null],
])('%s is refused, named, and nothing is written', async (_, agent_yaml, field, value) => {
  const { status, body } = await gateway.http('POST', '/agents', { body: { name: 'x', agent_yaml, soul_md: '' } });
  expect([status, body.detail.type]).toEqual([400, 'validation']);
  expect(body.detail.errors[0]).toMatchObject({ agent: 'x', field, value, severity: 'error' });
  expect(existsSync(join(gateway.directory, 'agents', 'x'))).toBe(false);
});

test.each(['', '.', '..', '../x', 'a/b', 'a.new', 'a b', '-a', 'a'.repeat(65), 'ä'])(
  'the name %j is refused',
  async (name) => {
    const { status, body } = await gateway.http('POST', '/agents', {
      body: { name, agent_yaml: yaml('a'), soul_md: '' },
    });
    expect([status, body.detail.type]).toEqual([400, 'validation']);
    expect(body.detail.errors).toMatchObject([{ agent: name, field: 'name', value: name, severity: 'error' }]);
  },
);

test.each(['PUT', 'DELETE'])('%s of a name that no agent can have is refused as POST refuses it', async (method) => {
  const change = method === 'PUT' ? { body: { soul_md: 'x' } } : {};
  for (const name of ['-a', 'a.b', 'a'.repeat(65), 'ä']) {
    const { status, body } = await gateway.http(method, `/agents/${encodeURIComponent(name)}`, change);
    expect([status, body.detail.type]).toEqual([400, 'validation']);
    expect(body.detail.errors).toMatchObject([{ agent: name, field: 'name', value: name, severity: 'error' }]);
  }
});

test.each([
  ['agent_yaml', { agent_yaml: yaml('x', 'output_schema: {properties: {"\ud800": {}, "\ud801": {}}}') }],
  ['soul_md', { soul_md: 'half of a pair: \udc00' }],
])('text that cannot be written as UTF-8 is refused, and nothing is written: %s', async (field, part) => {
  const { status, body } = await gateway.http('POST', '/agents', {
    body: { name: 'x', agent_yaml: yaml('x'), soul_md: '', ...part },
  });
  expect([status, body.detail.type]).toEqual([400, 'validation']);
  expect(body.detail.errors).toMatchObject([{ agent: 'x', field, message: expect.stringContaining('UTF-8') }]);
  expect(existsSync(join(gateway.directory, 'agents', 'x'))).toBe(false);
});

test('every change of an agent is on record with its versions, and what was refused is not', async () => {
  const fresh = { name: 'fresh', agent_yaml: yaml('fresh'), soul_md: 'One' };
  await gateway.http('POST', '/agents', { body: fresh });
  const first = (await gateway.http('GET', '/agents/fresh')).body.version;
  await gateway.http('POST', '/agents', { body: fresh });
  await gateway.http('POST', '/agents', { body: { ...fresh, soul_md: 'Two', overwrite: true } });
  const second = (await gateway.http('GET', '/agents/fresh')).body.version;
  await gateway.http('PUT', '/agents/fresh', { body: { soul_md: 'Two' } });
  await gateway.http('PUT', '/agents/fresh', { body: { soul_md: 'One' } });
  await gateway.http('DELETE', '/agents/fresh');
  const by = { agent: 'fresh', address: '127.0.0.1', token: 'admin', msg: 'agent changed' };
  expect(gateway.records.filter(({ msg }) => msg === 'agent changed')).toEqual([
    { ...by, action: 'create', version_before: null, version: first },
    { ...by, action: 'overwrite', version_before: first, version: second },
    { ...by, action: 'update', version_before: second, version: first },
    { ...by, action: 'delete', version_before: first, version: null },
  ]);
});

test('validate applies the same checks without a write', async () => {
  const good = await gateway.http('POST', '/agents/validate', { body: { agent_yaml: yaml('fine', 'tools: [down]') } });
  expect(good.body).toEqual({ valid: true, errors: [] });
  const bad = await gateway.http('POST', '/agents/validate', { body: { agent_yaml: yaml('fine', 'tools: [up]') } });
  expect(bad.body).toMatchObject({ valid: false, errors: [{ field: 'tools', value: 'up' }] });
});

test('what a name should have led to is said', async () => {
  const { body } = await gateway.http('POST', '/agents/validate', {
    body: { agent_yaml: yaml('x', 'model_fallbacks: [nobody/m]\ntools: [up]\nrequire_approval: [up/x]\n') },
  });
  const message = '"up" is not a configured tool server; available: down';
  expect(body.errors).toMatchObject([
    { field: 'model_fallbacks', message: '"nobody/m" maps to no configured provider; available: demo' },
    { field: 'tools', message },
    { field: 'require_approval', message },
  ]);
  await gateway.close();
  const two = { one: { type: 'demo' }, two: { type: 'demo' } };
  gateway = await startTestGateway({ config: { providers: two } });
  const bare = await gateway.http('POST', '/agents/validate', {
    body: { agent_yaml: 'name: x\nmodel: m\ntools: [a]\n' },
  });
  expect(bare.body.errors).toMatchObject([
    { field: 'model', message: '"m" maps to no configured provider: none is the default, write one/m or two/m' },
    { field: 'tools', message: '"a" is not a configured tool server; none is configured' },
  ]);
});

test('what is wrong with a file is said in plain words', async () => {
  const { body } = await gateway.http('POST', '/agents/validate', {
    body: { agent_yaml: yaml('fine', 'temperature: 3\nmax_tokens: many\nlimits: {max_iteration: 1}') },
  });
  expect(body.errors.map(({ field, message }: { field: string; message: string }) => [field, message])).toEqual([
    ['max_tokens', 'expected number, received string'],
    ['temperature', 'must be at most 2'],
    ['limits.max_iteration', 'unknown key'],
  ]);
});

test('a model of a provider without a key is taken, and said to answer nothing yet wherever one looks', async () => {
  await gateway.close();
  const keyless = { type: 'anthropic', api_key: '' };
  gateway = await startTestGateway({
    agents: { triage: { config: { model: 'keyless/m', model_fallbacks: ['demo/m'] } } },
    config: { providers: { demo: { type: 'demo', default: true }, keyless } },
  });
  const message = 'provider "keyless" has no key, so its models cannot be used';
  const warning = { agent: 'triage', field: 'model', value: 'keyless/m', message, severity: 'warning' };
  expect((await gateway.http('GET', '/agents')).body).toMatchObject({
    agents: [{ name: 'triage' }],
    errors: [warning],
  });
  expect((await gateway.http('POST', '/reload')).body).toMatchObject({ agents_loaded: 1, errors: [warning] });
  expect(gateway.warnings).toContainEqual({
    agent: 'triage',
    field: 'model',
    problem: message,
    msg: expect.any(String),
  });
  const agents = (await (await gateway.rpc()).call('agents.list')).result?.['agents'];
  expect(agents).toMatchObject([{ name: 'triage', warnings: [`model: ${message}`] }]);

  const agent_yaml = 'name: late\nmodel: demo/m\nmodel_fallbacks: [keyless/m]\n';
  const late = { ...warning, agent: 'late', field: 'model_fallbacks' };
  const validated = await gateway.http('POST', '/agents/validate', { body: { agent_yaml } });
  expect(validated.body).toEqual({ valid: true, errors: [late] });
  const created = await gateway.http('POST', '/agents', { body: { name: 'late', agent_yaml, soul_md: '' } });
  expect(created).toMatchObject({ status: 200, body: { note: expect.stringContaining(message) } });
});

test('a change that changes nothing says so, and writes nothing', async () => {
  const before = statSync(fileOf('triage', 'soul.md')).ino;
  for (const body of [{}, { soul_md: 'You triage.' }]) {
    const answer = await gateway.http('PUT', '/agents/triage', { body });
    expect(answer).toMatchObject({
      status: 200,
      body: { agent: { name: 'triage', soul_md: 'You triage.' }, committed: false },
    });
    expect(answer.body.note).toBe('Nothing changed: the files are as they were.');
  }
  expect(statSync(fileOf('triage', 'soul.md')).ino).toBe(before);
});

test('a change that says what somebody wrote by hand makes it live', async () => {
  writeFileSync(fileOf('triage', 'soul.md'), 'By hand.');
  expect((await gateway.http('PUT', '/agents/triage', { body: {} })).body.agent.soul_md).toBe('By hand.');
  expect((await gateway.http('GET', '/agents/triage')).body.soul_md).toBe('By hand.');
});

test('a change of an agent that is not there is 404', async () => {
  const { status, body } = await gateway.http('PUT', '/agents/absent', { body: { soul_md: '' } });
  expect([status, body.detail.type]).toEqual([404, 'not_found']);
});

test('reload names what is broken and keeps its last good edition', async () => {
  writeFileSync(fileOf('triage', 'agent.yaml'), 'name: triage\nmodel: [');
  mkdirSync(join(gateway.directory, 'agents', 'half'));
  const { body } = await gateway.http('POST', '/reload');
  expect(body).toMatchObject({ status: 'reloaded', agents_loaded: 1 });
  expect(body.errors.map(({ agent, field }: { agent: string; field: string }) => [agent, field])).toEqual([
    ['half', 'agent.yaml'],
    ['triage', 'agent_yaml'],
  ]);
  expect((await gateway.http('GET', '/agents/triage')).status).toBe(200);
});

test('a name of the managed directory is served from there and read-only', async () => {
  await gateway.close();
  gateway = await startTestGateway({ agents: { triage: {} }, config: { managed_dir: '.' } });
  const managed = join(gateway.directory, 'agents', 'triage');
  writeFileSync(
    join(gateway.directory, 'manifest.json'),
    JSON.stringify({
      files: {
        'agents/triage/agent.yaml': {
          kind: 'Agent',
          namespace: 'sre',
          name: 'triage-cr',
          uid: 'u',
          generation: 1,
          hash: 'h',
        },
      },
      objects: [],
      agents: {},
    }),
  );
  expect(existsSync(managed)).toBe(true);
  const reloaded = await gateway.http('POST', '/reload');
  expect(reloaded.body.errors).toMatchObject([{ agent: 'triage', field: 'name' }]);
  const { status, body } = await gateway.http('PUT', '/agents/triage', { body: { soul_md: 'x' } });
  expect(status).toBe(409);
  expect(body.detail).toMatchObject({
    type: 'collision',
    message: 'agent "triage" is managed by Agent sre/triage-cr; change it there',
    managed_by: { kind: 'Agent', namespace: 'sre', name: 'triage-cr' },
  });
});

test('a name of the managed directory is read-only where its files are broken, too', async () => {
  await gateway.close();
  gateway = await startTestGateway({ config: { managed_dir: '.', agents_dir: 'own' } });
  mkdirSync(join(gateway.directory, 'agents', 'triage'), { recursive: true });
  writeFileSync(fileOf('triage', 'agent.yaml'), 'name: triage\nmodel: nobody/m\n');
  writeFileSync(fileOf('triage', 'soul.md'), '');
  mkdirSync(join(gateway.directory, 'own', 'triage'), { recursive: true });
  for (const [method, path, body] of [
    ['POST', '/agents', { name: 'triage', agent_yaml: yaml('triage'), soul_md: 'x', overwrite: true }],
    ['PUT', '/agents/triage', { agent_yaml: yaml('triage'), soul_md: 'x' }],
    ['DELETE', '/agents/triage', undefined],
  ] as const) {
    const answer = await gateway.http(method, path, body ? { body } : {});
    expect([method, answer.status, answer.body.detail?.type]).toEqual([method, 409, 'collision']);
    expect(answer.body.detail.managed_by).toEqual({ kind: 'Agent', namespace: '', name: 'triage' });
  }
  expect(readdirSync(join(gateway.directory, 'own', 'triage'))).toEqual([]);
  expect(gateway.errors).toEqual([]);
});
