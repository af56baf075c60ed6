import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { call } from '../support/call.ts';
import { type Scratch, scratchDirectory } from '../support/scratch.ts';
import { ROOT, type Service, startService } from '../support/start-service.ts';
import { waitFor } from '../support/wait-for.ts';

const TOKEN = 'admin-token-of-the-test';
const SERVER = join(ROOT, 'gateway/src/testing/misbehaving-server.ts');
const MARK = `hoard-${process.pid}`;
const HOARD = 'const b = Buffer.alloc(400 * 1024 * 1024, 1); setInterval(() => b.length, 1000)';
/** A process with a session of its own, no environment and no parent. */
const HIDE = `( setsid env -i "$0" -e '${HOARD}' ${MARK} & ); exec "$0" ${SERVER}`;

const open: (Service | Scratch)[] = [];
afterEach(async () => {
  for (const each of open.splice(0).toReversed()) await ('stop' in each ? each.stop() : each.remove());
});

function read(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}
const hoards = () => readdirSync('/proc').filter((name) => read(`/proc/${name}/cmdline`).endsWith(`${MARK}\0`));

test('memory of a process that hides from its server counts as that server’s, and ends with it', async () => {
  const scratch = scratchDirectory('hoard-');
  open.push(scratch);
  const config = join(scratch.path, 'gateway.yaml');
  const hoarder = { command: '/bin/sh', args: ['-c', HIDE, process.execPath], memory_limit_mib: 200 };
  const mcp_servers = { hoarder: { ...hoarder, isolation: 'require' } };
  mkdirSync(join(scratch.path, 'agents'));
  const providers = { demo: { type: 'demo', default: true } };
  writeFileSync(config, JSON.stringify({ server: { port: 0 }, identity_dir: 'identity', providers, mcp_servers }));
  const gateway = await startService('gateway', config, {
    env: { GATEWAY_ADMIN_TOKEN: TOKEN, GATEWAY_INVOKE_TOKEN: 'invoke-token-of-the-test' },
  });
  open.push(gateway);
  const errorOf = async () =>
    (await call<{ servers: { last_error: string | null }[] }>(`${gateway.url}/mcp/servers`, { token: TOKEN })).body
      .servers[0]?.last_error;
  expect(await waitFor(errorOf, { what: 'the end of the server' })).toBe('used more than 200 MiB of memory');
  await gateway.stop();
  await waitFor(() => hoards().length === 0, { what: 'the end of what it hid' });
});
