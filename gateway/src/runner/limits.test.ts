import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { loadSigningKey } from '../identity/signing-key.ts';
import { type RunnerProcess, startRunnerProcess } from '../testing/start-runner-process.ts';
import { startTestGateway, type TestGateway } from '../testing/start-test-gateway.ts';

vi.setConfig({ testTimeout: 180_000 });
const loaded = loadSigningKey({ identityDir: '', pem: undefined, adminToken: 'admin-token-of-the-test' });
if (!loaded.ok) throw new Error(loaded.message);
const { key } = loaded;
const MISBEHAVING = new URL('../testing/misbehaving-server.ts', import.meta.url).pathname;
const SOUL = '```demo\ncalls: [{tool: here/ok}, {tool: here/ok}]\nanswer: {summary: "{{results.1}}"}\n```\n';
const LIMITS = {
  none: {},
  turns: { max_iterations: 3 },
  fewer_turns: { max_iterations: 2 },
  tokens: { max_total_tokens: 1 },
  calls: { max_tool_calls: 1 },
  no_calls: { max_tool_calls: 0 },
  repair: { max_iterations: 4 },
};
const UNMET = { type: 'object', required: ['missing'] };
let pods: RunnerProcess[] = [];
let gateway: TestGateway;

beforeAll(async () => {
  const names = Object.keys(LIMITS);
  pods = await Promise.all(
    names.map((name) => startRunnerProcess({ AGENT_NAME: `far_${name}`, GATEWAY_PUBLIC_KEY: key.publicKey })),
  );
  const agents = Object.entries(LIMITS).flatMap(([name, limits]) =>
    (['far', 'near'] as const).map((place) => {
      const runtime = { mode: place === 'far' ? 'kubernetes' : 'process' };
      return [`${place}_${name}`, { soul: SOUL, config: { tools: ['here'], limits, runtime } }];
    }),
  );
  const addresses = Object.fromEntries(names.map((name, index) => [`far_${name}`, pods[index]?.address]));
  gateway = await startTestGateway({
    agents: Object.fromEntries(agents),
    signingKey: key,
    config: {
      providers: { demo: { type: 'demo', default: true } },
      mcp_servers: { here: { command: process.execPath, args: [MISBEHAVING] } },
      runtime: { mode: 'kubernetes', agents: addresses, start_timeout_seconds: 120 },
    },
  });
});
afterAll(async () => {
  await gateway.close();
  for (const pod of pods) await pod.stop();
});

test.each(Object.keys(LIMITS))('a runner stays within the limits by itself, as the gateway does: %s', async (name) => {
  const client = await gateway.rpc();
  const ends = async (place: string) => {
    const schema = name === 'repair' ? { output_schema: UNMET } : {};
    const { result, error } = await client.call('agent.run', { agent: `${place}_${name}`, input: 'go', ...schema });
    const { usage, usage_by_model, iterations, tool_calls, model, provider, text } = { ...error?.data, ...result };
    const used = { usage, usage_by_model, iterations, tool_calls, model, provider };
    return { ...used, text, answered_by: result?.['answered_by'], type: error?.data?.type, message: error?.message };
  };
  const far = await ends('far');
  expect(far).toEqual(await ends('near'));
  expect(far).toMatchObject({ usage: { input_tokens: expect.any(Number) }, provider: 'demo' });
});
