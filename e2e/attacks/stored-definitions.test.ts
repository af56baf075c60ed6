import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { call } from '../support/call.ts';
import { scratchDirectory } from '../support/scratch.ts';
import { type Service, startService } from '../support/start-service.ts';
import { waitFor } from '../support/wait-for.ts';
import { alert, configureTenants, read, tokenOf } from './tenant-site.ts';

interface Detail {
  status: string;
  error: { step: string | null; message: string } | null;
  steps: { name: string; status: string; error: { type: string } | null }[];
  notifications: { channel: string; event: string }[];
}

/** Room for two of the bodies that one library step of 192 KB makes of small pipelines. */
const LIMIT = 7_000_000;
const big = { name: 'big', executor: 'gateway', agent: 'a', when: 'false', prompt_template: '€'.repeat(64_000) };
const leaf = {
  steps: Array.from({ length: 16 }, (_, at) => ({ name: `s${at}`, use: 'big' })),
  notifications: { fail: [{ channel: 'log', template: 'Look at {{pipeline_name}}' }] },
};
const names = ['leaf0', 'leaf1', 'leaf2'];
const top = { steps: names.map((pipeline) => ({ name: pipeline, executor: 'pipeline', pipeline, context: {} })) };

const scratch = scratchDirectory('stored-definitions-');
let service: Service;
beforeAll(async () => {
  const leaves = Object.fromEntries(names.map((name) => [name, leaf]));
  const namespaces = { shop: { daily_bytes: LIMIT } };
  const config = configureTenants(scratch.path, { pipelines: { shop: { top, ...leaves } }, namespaces });
  const managed = join(scratch.path, 'managed');
  mkdirSync(join(managed, 'steps'), { recursive: true });
  writeFileSync(join(managed, 'steps/big.yaml'), JSON.stringify(big));
  const manifest = JSON.parse(readFileSync(join(managed, 'manifest.json'), 'utf8')) as { files: object };
  const entry = { kind: 'LibraryStep', namespace: 'shop', name: 'big', uid: 'big', generation: 1, hash: '' };
  const files = { ...manifest.files, 'steps/big.yaml': entry };
  writeFileSync(join(managed, 'manifest.json'), JSON.stringify({ ...manifest, files }));
  service = await startService('api-server', config);
});
afterAll(async () => {
  await service?.stop(1_000);
  scratch.remove();
});

async function runOf(pipeline: string): Promise<Detail & { id: string }> {
  const { status, run } = await alert(service, pipeline, { alertname: pipeline });
  expect(status).toBe(202);
  let found = await read<Detail>(service, `/runs/${run}`);
  const look = async () => {
    found = await read<Detail>(service, `/runs/${run}`);
    return found.status !== 'running' && found.status !== 'queued';
  };
  await waitFor(look, { what: 'the end of the run' });
  return { ...found, id: run };
}

function storedBytes(): number {
  const db = new DatabaseSync(join(scratch.path, 'signalbox.db'), { readOnly: true });
  const row = db.prepare('select sum(length(cast(body as blob))) as bytes from definitions').get();
  db.close();
  return Number(row?.['bytes']);
}

test('the definitions of a namespace take what it may store in a day, whoever starts their runs', async () => {
  const { steps } = await runOf('top');
  expect(steps.map(({ error }) => error?.type ?? null)).toEqual([null, null, 'daily_bytes']);
  expect((await runOf('leaf0')).status).toBe('completed');

  const refused = await runOf('leaf2');
  expect(refused).toMatchObject({ status: 'failed', steps: [], notifications: [{ channel: 'log', event: 'fail' }] });
  expect(refused.error?.message).toContain('daily_bytes of tenancy.namespaces');
  expect(storedBytes()).toBeLessThan(LIMIT);

  const viewer = { token: tokenOf('viewer'), headers: { accept: 'text/html' } };
  expect((await call(`${service.url}/ui/runs/${refused.id}`, viewer)).status).toBe(200);
  const again = await call(`${service.url}/runs/${refused.id}/rerun`, { token: tokenOf('operator'), body: {} });
  expect(again).toMatchObject({ status: 202, body: { original_run_id: refused.id } });
});
