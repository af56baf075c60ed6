import { randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { KINDS } from '../faults/databases.ts';
import { call } from '../support/call.ts';
import { scratchDirectory } from '../support/scratch.ts';
import { type Service, startService } from '../support/start-service.ts';
import { type AttackedDatabase, attackedDatabase } from './attacked-database.ts';

/** What a misconfigured router may send in a minute. */
const DELIVERIES = 20_000;
/** More than a minute stores. */
const LARGE = 1_000;
const BYTES_A_MINUTE = 40_000_000;
const AT_ONCE = 32;

const SHOP = {
  name: 'shop',
  stage: 'production',
  trigger: { match: { namespace: 'shop' } },
  steps: [{ name: 'ask', executor: 'human', prompt_template: 'Look', timeout_seconds: 3600 }],
};

describe.each(KINDS)('on %s', (kind) => {
  const scratch = scratchDirectory('refused-flood-');
  let service: Service;
  let database: AttackedDatabase;
  beforeAll(async () => {
    mkdirSync(join(scratch.path, 'pipelines'));
    writeFileSync(join(scratch.path, 'pipelines', 'shop.yaml'), JSON.stringify(SHOP));
    const tokens = ['webhook', 'viewer'].map((role) => ({ name: role, token: `${role}-of-the-test`, role }));
    database = await attackedDatabase(kind, scratch.path);
    const settings = { pipeline_config_dir: 'pipelines', database: { url: database.url }, auth: { tokens } };
    const config = join(scratch.path, 'config.yaml');
    writeFileSync(config, JSON.stringify({ server: { host: '127.0.0.1', port: 0 }, ...settings }));
    service = await startService('api-server', config);
  });
  afterAll(async () => {
    await service.stop();
    await database.remove();
    scratch.remove();
  });

  const send = async (namespace: string, noise = '') => {
    const annotations = { summary: 'down', noise };
    const alert = { status: 'firing', fingerprint: noise.slice(0, 16), labels: { namespace }, annotations };
    const body = { version: '4', groupKey: 'g', status: 'firing', alerts: [alert] };
    const url = `${service.url}/webhook?source=alert_router`;
    return (await call<{ status?: string; detail?: { type: string } }>(url, { token: 'webhook-of-the-test', body }))
      .body;
  };

  test('a flood of deliveries that match nothing grows the database by less than 40 MB a minute', async () => {
    const before = await database.bytes();
    const startedAt = Date.now();
    const outcomes = new Map<string | undefined, number>();
    const refuse = async (at: number) => {
      // Text that no compression makes much smaller.
      const { detail } = await send('elsewhere', at < LARGE ? randomBytes(48_000).toString('base64') : `n${at}`);
      outcomes.set(detail?.type, (outcomes.get(detail?.type) ?? 0) + 1);
    };
    const sender = async (first: number) => {
      for (let at = first; at < DELIVERIES; at += AT_ONCE) await refuse(at);
    };
    await Promise.all(Array.from({ length: AT_ONCE }, (_, first) => sender(first)));
    expect([...outcomes]).toEqual([['no_pipeline', DELIVERIES]]);
    expect((await send('shop')).status).toBe('accepted');
    const minutes = Math.floor(Date.now() / 60_000) - Math.floor(startedAt / 60_000) + 1;
    const grown = (await database.bytes()) - before;
    // The large ones are stored: without that the bound would hold for nothing.
    expect(grown).toBeGreaterThan(5_000_000);
    expect(grown).toBeLessThan(BYTES_A_MINUTE * minutes);
    const { body } = await call<string>(`${service.url}/metrics`);
    const dropped = /service_deliveries_dropped_total\{source="alert_router",outcome="no_pipeline"\} (\d+)/.exec(
      body,
    )?.[1];
    expect(Number(dropped)).toBeGreaterThanOrEqual(DELIVERIES - 600 * minutes);
  });
});
