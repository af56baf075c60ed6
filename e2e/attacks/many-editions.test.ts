import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { call } from '../support/call.ts';
import { scratchDirectory } from '../support/scratch.ts';
import { type Service, startService } from '../support/start-service.ts';
import { waitFor } from '../support/wait-for.ts';

const EDITIONS = 120;
/** 57 KB of a library step, which the pipeline has fifteen times once it is written out. */
const properties = Object.fromEntries(
  Array.from({ length: 200 }, (_, at) => [`p${at}`, { type: 'string', description: `EDITION ${'d'.repeat(240)}` }]),
);
const big = {
  name: 'big',
  executor: 'gateway',
  agent: 'a',
  prompt_template: 'look',
  output_schema: { type: 'object', properties },
};
const ask = { name: 'ask', executor: 'human', prompt_template: 'May it go on?', timeout_seconds: 86_400 };
const uses = Array.from({ length: 15 }, (_, at) => ({ name: `s${at}`, use: 'big' }));

const scratch = scratchDirectory('many-editions-');
const config = join(scratch.path, 'config.yaml');
const file = join(scratch.path, 'signalbox.sqlite');
let service: Service;
beforeAll(() => {
  const folder = (name: string) => join(scratch.path, name);
  for (const name of ['pipelines', 'steps']) mkdirSync(folder(name));
  writeFileSync(join(folder('steps'), 'big.yaml'), JSON.stringify(big));
  const pipeline = { name: 'waits', stage: 'production', steps: [ask, ...uses] };
  writeFileSync(join(folder('pipelines'), 'waits.yaml'), JSON.stringify(pipeline));
  const settings = {
    server: { host: '127.0.0.1', port: 0 },
    pipeline_config_dir: folder('pipelines'),
    step_library_dir: folder('steps'),
    database: { url: `sqlite:///${file}` },
    auth: { allow_unauthenticated: true },
    concurrency: { max_runs: 1000 },
  };
  writeFileSync(config, JSON.stringify(settings));
});
afterAll(async () => {
  await service?.stop(1_000);
  scratch.remove();
});

const asked = async () => (await call<{ total: number }>(`${service.url}/approvals?status=pending&limit=1`)).body.total;

/** As if the library step had been edited before each run, and each waited for a person. */
function copyRun(): void {
  const db = new DatabaseSync(file);
  const copy = (table: string, changed: Record<string, string>) => {
    const columns = db.prepare(`select name from pragma_table_info('${table}')`).all() as { name: string }[];
    const names = columns.map(({ name }) => name).filter((name) => changed[name] !== '');
    const values = names.map((name) => changed[name] ?? name);
    db.exec(`insert into ${table} (${names.join()})
      with recursive edition(n) as (select 1 union all select n + 1 from edition where n < ${EDITIONS})
      select ${values.join()} from ${table}, edition`);
  };
  db.exec('begin');
  copy('definitions', { hash: `hash || n`, body: `replace(body, 'EDITION', printf('%07d', n))` });
  const id = `printf('00000000-0000-4000-8000-%012d', n)`;
  copy('runs', { seq: '', id, definition_hash: `definition_hash || n`, dedup_key: 'null', fingerprint: 'null' });
  db.exec('commit');
  db.close();
}

test('a start goes on with the waiting runs of 120 editions of a pipeline that uses a large step fifteen times', async () => {
  service = await startService('api-server', config);
  await call(`${service.url}/webhook?source=generic`, { body: { pipeline: 'waits' } });
  await waitFor(async () => (await asked()) === 1, { what: 'the question' });
  await service.kill();
  copyRun();
  service = await startService('api-server', config, { nodeFlags: ['--max-old-space-size=128'] });
  const died = service.exited.then(() => Promise.reject(new Error('the service ended')));
  const all = waitFor(async () => (await asked()) === EDITIONS + 1, { what: 'all questions', timeoutMs: 60_000 });
  await Promise.race([all, died]);
  expect((await call<{ runs: unknown[] }>(`${service.url}/runs?limit=200`)).body.runs).toHaveLength(EDITIONS + 1);
});
