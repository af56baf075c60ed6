import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { call } from '../support/call.ts';
import { scratchDirectory } from '../support/scratch.ts';
import { startService } from '../support/start-service.ts';
import { waitFor } from '../support/wait-for.ts';

const scratch = scratchDirectory('approve-token-');
afterAll(() => scratch.remove());
const tokenOf = (name: string) => `token-of-${name}-for-the-test`;

test.each([
  ['invoke', true],
  ['approve', false],
])('a service that holds the %s token of a gateway with an approve token is warned: %s', async (name, warned) => {
  const tokens = { ADMIN: tokenOf('admin'), INVOKE: tokenOf('invoke'), APPROVE: tokenOf('approve') };
  const env = Object.fromEntries(Object.entries(tokens).map(([role, token]) => [`GATEWAY_${role}_TOKEN`, token]));
  const write = (file: string, content: object) => {
    writeFileSync(join(scratch.path, file), JSON.stringify(content));
    return join(scratch.path, file);
  };
  const gateway = await startService('gateway', write('gateway.yaml', { server: { port: 0 } }), { env });
  const backend = { url: gateway.url.replace('http', 'ws'), token: tokenOf(name) };
  const settings = { server: { host: '127.0.0.1', port: 0 }, auth: { allow_unauthenticated: true } };
  const database = { url: `sqlite:${name}.db` };
  const file = write(`${name}.yaml`, { ...settings, database, executors: { gateway: backend } });
  const other = await startService('api-server', file);
  const isWarning = ({ msg }: { msg?: unknown }) => String(msg).includes('is not the approve token of the gateway');
  try {
    if (warned) await waitFor(() => other.logs.some(isWarning), { what: 'the warning' });
    // By then the question of the start was answered as well.
    await call(`${other.url}/agents`);
    expect(other.logs.some(isWarning)).toBe(warned);
    const { body } = await call<{ status: string; warnings: string[] }>(`${other.url}/health`);
    expect([body.status, body.warnings.some((msg) => isWarning({ msg }))]).toEqual(['ok', warned]);
  } finally {
    await Promise.all([other.stop(), gateway.stop()]);
  }
});
