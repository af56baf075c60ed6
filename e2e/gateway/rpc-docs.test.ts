import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { scratchDirectory } from '../support/scratch.ts';
import { ROOT, type Service, startService } from '../support/start-service.ts';
import { waitFor } from '../support/wait-for.ts';

const scratch = scratchDirectory('rpc-docs-');
const TOKENS = { GATEWAY_ADMIN_TOKEN: 'docs-admin-000000000000', GATEWAY_INVOKE_TOKEN: 'docs-invoke-00000000000' };
const page = readFileSync(join(ROOT, 'docs/rpc.md'), 'utf8');
const printed = (language: string) => new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``).exec(page)?.[1] ?? '';
let gateway: Service;

beforeAll(async () => {
  const config = join(scratch.path, 'gateway.yaml');
  const host = { command: process.execPath, args: [join(ROOT, 'gateway/src/testing/misbehaving-server.ts')] };
  writeFileSync(config, JSON.stringify({ server: { port: 0 }, mcp_servers: { host } }));
  writeAgent('careful', { tools: ['host'], require_approval: ['host'] }, '  - {tool: host/ok}');
  gateway = await startService('gateway', config, { env: TOKENS });
});
afterAll(async () => {
  await gateway?.stop();
  scratch.remove();
});

/** An agent that calls a tool and answers with its result. */
function writeAgent(name: string, config: object, call: string): void {
  const folder = join(scratch.path, 'agents', name);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'agent.yaml'), JSON.stringify({ name, model: 'demo/any', ...config }));
  writeFileSync(
    join(folder, 'soul.md'),
    `\`\`\`demo\ncalls:\n${call}\nanswer: {said: "{{results.0.error}}"}\n\`\`\`\n`,
  );
}

async function run(command: string, args: string[]): Promise<{ stdout: string; stderr: string }> {
  const env = { PATH: process.env['PATH'], ...TOKENS, GATEWAY_URL: gateway.url };
  return promisify(execFile)(command, args, { env, timeout: 120_000 });
}

test('a stranger adds an agent with curl and talks to it in TypeScript and in Python', async () => {
  const added = await run('bash', ['-euc', printed('sh')]);
  expect(added.stdout).toContain('"name":"greeter"');

  for (const [language, command, file] of [
    ['ts', process.execPath, 'client.ts'],
    ['python', 'python3', 'client.py'],
  ] as const) {
    const path = join(scratch.path, file);
    const client = printed(language);
    expect(client.trimEnd().split('\n').length).toBeLessThanOrEqual(40);
    writeFileSync(path, client);
    const { stdout, stderr } = await run(command, [path]);
    expect(JSON.parse(stdout)).toMatchObject({ confidence: 0.5 });
    expect(stderr).toMatch(/accepted[\s\S]*started[\s\S]*llm_call/);
  }
});

describe.each([
  ['ts', process.execPath, 'client.ts'],
  ['python', 'python3', 'client.py'],
] as const)('the client in %s', (language, command, file) => {
  const path = join(scratch.path, file);
  beforeAll(() => writeFileSync(path, printed(language)));

  test('fails with the reason where there is no answer', async () => {
    await expect(run(command, [path, 'nobody'])).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringContaining('there is no agent "nobody"'),
    });
  });

  test('allows no tool that a person has to allow, and so gets an answer', async () => {
    const healthy = async () => (await (await fetch(`${gateway.url}/health`)).text()).includes('"ok"');
    await waitFor(healthy, { what: 'the tool server to run', timeoutMs: 60_000 });
    expect((await run(command, [path, 'careful'])).stdout).toContain('the approver rejected it');
  });
});

test('both clients are short', () => {
  for (const language of ['ts', 'python']) expect(printed(language).trim().split('\n').length).toBeLessThanOrEqual(42);
});
