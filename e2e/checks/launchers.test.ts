import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');

/** An older Node as far as a launcher can tell: its number, and a `node:module` without what came later. */
const OLD_NODE = `
import { registerHooks } from 'node:module';
Object.defineProperty(process.versions, 'node', { value: '20.20.2' });
const old = { url: 'data:text/javascript,export default {}', format: 'module', shortCircuit: true };
registerHooks({ resolve: (name, context, next) => (name === 'node:module' ? old : next(name, context)) });
`;

test.each([
  'api-server/start.mjs',
  'api-server/backup.mjs',
  'api-server/replay.mjs',
  'gateway/start.mjs',
  'gateway/runner.mjs',
  'controller/start.mjs',
  'e2e/demo/start.mjs',
])('%s says to an old Node what it needs, in one line', (launcher) => {
  const hook = `data:text/javascript,${encodeURIComponent(OLD_NODE)}`;
  const args = ['--import', hook, join(ROOT, launcher), '--help'];
  const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8', timeout: 60_000 });
  expect([status, stderr.trim().split('\n')]).toEqual([1, [expect.stringContaining('needs Node 24 or newer')]]);
});
