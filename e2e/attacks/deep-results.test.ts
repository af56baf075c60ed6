import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { writeGatewayConfig } from '../support/local-config.ts';
import { localTokens, tokenEnvironment } from '../support/local-tokens.ts';
import { scratchDirectory } from '../support/scratch.ts';
import { type Service, startService } from '../support/start-service.ts';
import { waitFor } from '../support/wait-for.ts';
import { residentBytes } from './resident-bytes.ts';

const MIB = 1024 * 1024;
/** Answers all but the handshake with ten megabytes of lists within lists, behind which the id stands. */
const SERVER = `
const { createInterface } = require('node:readline');
const hello = { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'deep', version: '1' } };
const deep = '['.repeat(5_200_000) + ']'.repeat(5_200_000);
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method } = JSON.parse(line);
  if (id === undefined) return;
  const result = method === 'initialize' ? JSON.stringify(hello) : deep;
  process.stdout.write('{"result":' + result + ',"jsonrpc":"2.0","id":' + id + '}\\n');
});
`;

const scratch = scratchDirectory('deep-results-');
let gateway: Service;
beforeAll(async () => {
  const program = join(scratch.path, 'deep.cjs');
  writeFileSync(program, SERVER);
  const change = (config: Record<string, unknown>) => {
    config.mcp_servers = { deep: { command: 'node', args: [program], cwd: scratch.path } };
    config.agents_dir = scratch.path;
  };
  const dataDir = join(scratch.path, 'data');
  const path = writeGatewayConfig({ dataDir, port: 0, change });
  gateway = await startService('gateway', path, { env: tokenEnvironment(localTokens(dataDir)) });
});
afterAll(async () => {
  await gateway?.stop();
  scratch.remove();
});

test('an answer of five million lists fails its request before it is read', async () => {
  const down = () => gateway.logs.filter(({ msg }) => msg === 'tool server is down');
  await waitFor(() => Promise.resolve(down().length >= 2), { what: 'two answers of the tool server' });
  expect(down()[0]?.reason).toContain('it sent a result of more than 50000 values');
  expect(residentBytes(gateway, 'VmHWM')).toBeLessThan(400 * MIB);
});
