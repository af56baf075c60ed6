import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, expect, test } from 'vitest';
import { call } from '../support/call.ts';
import { scratchDirectory } from '../support/scratch.ts';
import { type Service, startService } from '../support/start-service.ts';
import { waitFor } from '../support/wait-for.ts';

const scratch = scratchDirectory('missed-schedules-');
const config = join(scratch.path, 'config.yaml');
let service: Service | null = null;
afterAll(async () => {
  await service?.stop();
  scratch.remove();
});

interface Line {
  missed: number;
  last_missed_at: string | null;
}
const scheduleOf = async ({ url }: Service) =>
  (await call<{ schedules: Line[] }>(`${url}/schedules`)).body.schedules[0] as Line;

test('what a schedule missed while the service was down is said in the log and listed, once', async () => {
  mkdirSync(join(scratch.path, 'pipelines'));
  const pipeline = {
    name: 'hourly',
    schedule: { cron: '0 * * * *' },
    steps: [{ name: 'call', executor: 'webhook', url: 'http://127.0.0.1:1/' }],
  };
  writeFileSync(join(scratch.path, 'pipelines', 'hourly.yaml'), JSON.stringify(pipeline));
  const settings = { pipeline_config_dir: 'pipelines', database: { url: 'sqlite:missed.db' } };
  const server = { host: '127.0.0.1', port: 0 };
  writeFileSync(config, JSON.stringify({ server, ...settings, auth: { allow_unauthenticated: true } }));
  const first = await startService('api-server', config);
  expect(await scheduleOf(first)).toMatchObject({ missed: 0, last_missed_at: null });
  await first.kill();
  // As if the process had ended three hours ago.
  const database = new DatabaseSync(join(scratch.path, 'missed.db'));
  database.exec(`UPDATE marks SET value = value - 3 * 3600000 WHERE name = 'schedules_looked_at'`);
  database.close();
  service = await startService('api-server', config);
  const { logs } = service;
  await waitFor(() => logs.some(({ msg }) => msg?.startsWith('schedule missed')), { what: 'the line in the log' });
  const { missed, last_missed_at: last } = await scheduleOf(service);
  expect(missed).toBeGreaterThanOrEqual(3);
  expect(last).toMatch(/:00:00\.000Z$/);
  expect((await call<{ total: number }>(`${service.url}/runs`)).body.total).toBe(0);
  await service.stop();
  service = await startService('api-server', config);
  expect((await scheduleOf(service)).missed).toBe(missed);
});
