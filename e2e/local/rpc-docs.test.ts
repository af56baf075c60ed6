import { execFile } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { writeGatewayConfig } from '../support/local-config.ts';
import { localTokens, tokenEnvironment } from '../support/local-tokens.ts';
import { scratchDirectory } from '../support/scratch.ts';
import { ROOT, type Service, startService } from '../support/start-service.ts';

const scratch = scratchDirectory('rpc-');
const tokens = localTokens(scratch.path);
let gateway: Service;

beforeAll(async () => {
  const config = writeGatewayConfig({ dataDir: scratch.path, port: 0 });
  gateway = await startService('gateway', config, { env: tokenEnvironment(tokens) });
});

afterAll(async () => {
  await gateway?.stop();
  scratch.remove();
});

test('the client printed in docs/rpc.md gets an answer', async () => {
  const [, client = ''] = /```js\n([\s\S]*?)```/.exec(readFileSync(join(ROOT, 'docs/rpc.md'), 'utf8')) ?? [];
  // Among the packages, so that its import of `ws` is found.
  const file = join(ROOT, 'node_modules', `.rpc-client-${process.pid}.mjs`);
  writeFileSync(file, client);
  try {
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [file], {
      env: {
        ...process.env,
        GATEWAY_URL: `${gateway.url.replace('http', 'ws')}/rpc`,
        GATEWAY_INVOKE_TOKEN: tokens.gateway_invoke,
      },
    });
    expect(JSON.parse(stdout)).toMatchObject({ confidence: expect.any(Number), load: expect.any(Object) });
    expect(stderr).toMatch(/tool_call read_load/);
  } finally {
    rmSync(file, { force: true });
  }
});
