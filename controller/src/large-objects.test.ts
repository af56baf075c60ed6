import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { packBody } from './objects/packed-body.ts';
import { STEP } from './testing/objects.ts';
import { type FakeApiServer, startFakeApiServer } from './testing/fake-api-server.ts';
import { flags } from '../../e2e/control-plane/controllers.ts';
import { scratchDirectory } from '../../e2e/support/scratch.ts';
import { ROOT, type Service, startProcess } from '../../e2e/support/start-service.ts';
import { residentBytes } from '../../e2e/attacks/resident-bytes.ts';

const MIB = 1024 * 1024;
const AGENT = { model: 'demo/any', soul: 'Be brief.' };
/** 1.4 MB of text, 19 MB once parsed. */
const MANY_VALUES = { ...AGENT, output_schema: { type: 'object', enum: Array.from({ length: 460_000 }, () => []) } };
const LONG = { ...AGENT, output_schema: { description: 'x'.repeat(1_400_000) } };

const scratch = scratchDirectory('tenant-objects-');
let api: FakeApiServer;
let service: Service | undefined;
beforeEach(async () => {
  api = await startFakeApiServer();
});
afterEach(async () => {
  await service?.stop(1_000);
  await api.close();
});

/** As large as an API server takes them. */
function applyLarge(count: number, description: string) {
  for (let index = 0; index < count; index++) api.apply('Agent', `values-${index}`, { ...MANY_VALUES, description });
  for (let index = 0; index < 4; index++) api.apply('Agent', `long-${index}`, { ...LONG, description });
}

/** With the flags of the image, and the heap that Node takes in half of the memory that the chart gives. */
function start(role: string, heap: number, options: Record<string, string>): Promise<Service> {
  const nodeFlags = ['--optimize-for-size', `--max-old-space-size=${heap}`];
  const args = [...nodeFlags, join(ROOT, 'controller/start.mjs'), role, ...flags(options)];
  const env = { KUBECONFIG: api.writeKubeconfig(scratch.path) };
  return startProcess(`controller ${role}`, { command: process.execPath, args }, { env });
}

const accepted = (kind: string, name: string) =>
  (
    api.get(kind, name)?.status?.['conditions'] as { type: string; reason: string; message: string }[] | undefined
  )?.find(({ type }) => type === 'Accepted');

test('the sidecar writes the files of others, whatever large objects a tenant makes', async () => {
  applyLarge(8, 'made');
  api.apply('Agent', 'good', AGENT);
  const dir = join(scratch.path, 'managed');
  service = await start('sync', 160, { kinds: 'Agent', dir });
  await expect.poll(() => existsSync(join(dir, 'agents/good/agent.yaml'))).toBe(true);
  applyLarge(8, 'changed');
  api.apply('Agent', 'better', AGENT);
  await expect.poll(() => existsSync(join(dir, 'agents/better/agent.yaml'))).toBe(true);
  expect(residentBytes(service, 'VmHWM')).toBeLessThan(320 * MIB);
});

test('what was accepted last of many objects does not fill the memory of the sidecar, however small it is packed', async () => {
  // Some hundred bytes; 4 MB once parsed.
  const lastAccepted = packBody({ name: 'packed-0', tags: Array.from({ length: 59_000 }, () => ({})) });
  for (let index = 0; index < 45; index++)
    api.apply('Pipeline', `packed-${index}`, { steps: [] }, { status: { lastAccepted } });
  api.apply('Pipeline', 'good', { steps: [{ name: 'look', ...STEP }] });
  const dir = join(scratch.path, 'packed');
  service = await start('sync', 160, { kinds: 'Pipeline', dir });
  await expect.poll(() => existsSync(join(dir, 'pipelines/good.yaml'))).toBe(true);
  expect(existsSync(join(dir, 'pipelines/packed-0.yaml'))).toBe(false);
  expect(residentBytes(service, 'VmHWM')).toBeLessThan(320 * MIB);
});

const SHOP = { namespace: 'shop' };
const LONG_TEXT = 'ā'.repeat(50_000);
/** About half as much as usual, so that half the objects are enough. */
const SMALL_HEAP = { sync: 80, manager: 128 };

test('the sidecar has room for pipelines of a few lines, however large the library steps are that they use', async () => {
  api.apply('LibraryStep', 'large', { ...STEP, prompt_template: LONG_TEXT }, SHOP);
  const steps = Array.from({ length: 10 }, (_, at) => ({ name: `s${at}`, use: 'large' }));
  for (let index = 0; index < 100; index++) api.apply('Pipeline', `uses-${index}`, { steps }, SHOP);
  const dir = join(scratch.path, 'uses');
  service = await start('sync', SMALL_HEAP.sync, { kinds: 'Pipeline,LibraryStep', dir });
  await expect.poll(() => existsSync(join(dir, 'pipelines/uses-99.yaml')), { timeout: 60_000 }).toBe(true);
}, 120_000);

test('the controller judges agents with more text for their pods than it has memory', async () => {
  const annotations = Object.fromEntries(Array.from({ length: 5 }, (_, at) => [`a${at}`, LONG_TEXT]));
  const lastAccepted = packBody({ name: 'long', ...AGENT, runtime: { annotations } });
  for (let index = 0; index < 200; index++)
    api.apply('Agent', `long-${index}`, {}, { ...SHOP, status: { lastAccepted } });
  api.apply('Agent', 'good', AGENT);
  service = await start('manager', SMALL_HEAP.manager, { 'leader-elect': 'false' });
  await expect.poll(() => accepted('Agent', 'long-199')?.reason, { timeout: 60_000 }).toBe('Invalid');
  expect(accepted('Agent', 'good')?.reason).toBe('Accepted');
}, 120_000);

test('the controller says of each that it is too large, and judges the others', async () => {
  applyLarge(20, 'made');
  api.apply('Agent', 'good', AGENT);
  service = await start('manager', 256, { 'leader-elect': 'false' });
  await expect.poll(() => accepted('Agent', 'good')?.reason).toBe('Accepted');
  for (const name of ['values-0', 'values-19', 'long-0', 'long-3'])
    await expect.poll(() => accepted('Agent', name)?.reason).toBe('TooLarge');
  expect(residentBytes(service, 'VmHWM')).toBeLessThan(512 * MIB);
});

const HOME_PIPELINE = { steps: [{ name: 'look', ...STEP }] };

function applyMany(count: number, chars: number) {
  for (let index = 0; index < count; index++)
    api.apply('Pipeline', `large-${index}`, { ...HOME_PIPELINE, description: 'ā'.repeat(chars) }, SHOP);
  api.apply('Pipeline', 'good', HOME_PIPELINE);
}

test('the sidecar writes the files of others, however many objects a tenant makes', async () => {
  applyMany(120, 240_000);
  const dir = join(scratch.path, 'many');
  service = await start('sync', 160, { kinds: 'Pipeline', dir });
  await expect.poll(() => existsSync(join(dir, 'pipelines/good.yaml'))).toBe(true);
  expect(residentBytes(service, 'VmHWM')).toBeLessThan(320 * MIB);
});

test('the controller says of the newest of too many objects that they have no room, and judges the others', async () => {
  applyMany(130, 500_000);
  service = await start('manager', 256, { 'leader-elect': 'false' });
  await expect.poll(() => accepted('Pipeline', 'good')?.reason).toBe('Accepted');
  await expect.poll(() => accepted('Pipeline', 'large-129')?.reason).toBe('TooLarge');
  expect(accepted('Pipeline', 'large-129')?.message).toContain('has no room');
  expect(accepted('Pipeline', 'large-0')?.message).not.toContain('has no room');
  expect(residentBytes(service, 'VmHWM')).toBeLessThan(512 * MIB);
});
