import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { scratchDirectory } from '../support/scratch.ts';
import { ROOT, type Service, startService } from '../support/start-service.ts';

const scratch = scratchDirectory('rpc-docs-');
const TOKENS = { GATEWAY_ADMIN_TOKEN: 'docs-admin-000000000000', GATEWAY_INVOKE_TOKEN: 'docs-invoke-00000000000' };
const page = readFileSync(join(ROOT, 'docs/rpc.md'), 'utf8');
const printed = (language: string) => new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``).exec(page)?.[1] ?? '';
let gateway: Service;

beforeAll(async () => {
  const config = join(scratch.path, 'gateway.yaml');
  writeFileSync(config, JSON.stringify({ server: { port: 0 } }));
  gateway = await startService('gateway', config, { env: TOKENS });
});
afterAll(async () => {
  await gateway?.stop();
  scratch.remove();
});

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
    writeFileSync(path, printed(language));
    const { stdout, stderr } = await run(command, [path]);
    expect(JSON.parse(stdout)).toMatchObject({ confidence: 0.5 });
    expect(stderr).toMatch(/accepted[\s\S]*started[\s\S]*llm_call/);
  }
});

test('both clients are short', () => {
  for (const language of ['ts', 'python']) expect(printed(language).trim().split('\n').length).toBeLessThanOrEqual(42);
});
