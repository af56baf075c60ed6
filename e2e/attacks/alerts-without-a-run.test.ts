import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { KINDS } from '../faults/databases.ts';
import { call } from '../support/call.ts';
import { scratchDirectory } from '../support/scratch.ts';
import { type Service, startService } from '../support/start-service.ts';
import { type AttackedDatabase, attackedDatabase } from './attacked-database.ts';

const WAITING = {
  name: 'shop',
  stage: 'production',
  trigger: { match: { namespace: 'shop' }, dedup: { enabled: true, window_seconds: 600 } },
  steps: [{ name: 'ask', executor: 'human', prompt_template: 'Look at {{labels.service}}', timeout_seconds: 3600 }],
};

describe.each(KINDS)('on %s, alerts', (kind) => {
  const scratch = scratchDirectory('alerts-without-a-run-');
  const config = join(scratch.path, 'config.yaml');
  let service: Service;
  let database: AttackedDatabase;
  beforeAll(async () => {
    mkdirSync(join(scratch.path, 'pipelines'));
    writeFileSync(join(scratch.path, 'pipelines', 'shop.yaml'), JSON.stringify(WAITING));
    const tokens = ['webhook', 'viewer', 'operator'].map((role) => ({
      name: role,
      token: `${role}-of-the-test`,
      role,
    }));
    database = await attackedDatabase(kind, scratch.path);
    const settings = { pipeline_config_dir: 'pipelines', database: { url: database.url }, auth: { tokens } };
    writeFileSync(config, JSON.stringify({ server: { host: '127.0.0.1', port: 0 }, ...settings }));
    service = await startService('api-server', config);
  });
  afterAll(async () => {
    await service.stop();
    await database.remove();
    scratch.remove();
  });

  const alert = (name: string, severity = 'critical') => ({
    status: 'firing',
    fingerprint: `f-${name}`,
    labels: { namespace: 'shop', service: name, severity },
    annotations: { summary: `${name} is down` },
  });
  const send = async (...alerts: object[]) => {
    const body = { version: '4', groupKey: 'g', status: 'firing', alerts };
    const url = `${service.url}/webhook?source=alert_router`;
    return (await call<{ status: string; run_id: string }>(url, { token: 'webhook-of-the-test', body })).body;
  };
  const read = async <T>(path: string) =>
    (await call<T>(`${service.url}${path}`, { token: 'viewer-of-the-test' })).body;

  interface Listed {
    deliveries: { id: number; outcome: string }[];
  }
  interface Detail {
    alerts: { fingerprint: string; fate: string; run_id: string | null }[];
  }
  const fatesOfNewest = async () => {
    const [newest] = (await read<Listed>('/deliveries')).deliveries;
    const { alerts } = await read<Detail>(`/deliveries/${newest?.id}`);
    return alerts.map(({ fingerprint, fate, run_id: run }) => [fingerprint, fate, run]);
  };

  test('alerts that join a group whose run is active are looked at, also around a kill', async () => {
    const first = await send(alert('checkout'));
    const second = await send(alert('checkout'), alert('payments'));
    expect([first.status, second.status]).toEqual(['accepted', 'accepted']);
    expect(second.run_id).not.toBe(first.run_id);
    expect(await fatesOfNewest()).toEqual([
      ['f-checkout', 'suppressed', first.run_id],
      ['f-payments', 'run', second.run_id],
    ]);
    await service.kill();
    service = await startService('api-server', config);
    const third = await send(alert('search', 'info'), alert('payments'), alert('checkout'), alert('cart', 'warning'));
    expect(third.status).toBe('accepted');
    expect(await fatesOfNewest()).toEqual([
      ['f-payments', 'suppressed', second.run_id],
      ['f-checkout', 'suppressed', first.run_id],
      ['f-cart', 'run', third.run_id],
      ['f-search', 'merged', third.run_id],
    ]);
    const repeat = await send(alert('search', 'info'), alert('cart', 'warning'), alert('checkout'));
    expect(repeat.status).toBe('deduplicated');
    expect((await read<{ total: number }>('/runs')).total).toBe(3);
  });

  test('a thousand refused deliveries are bounded, counted, and leave no accepted one without its row', async () => {
    const refuse = () => call(`${service.url}/webhook?source=alert_router`, { token: 'webhook-of-the-test', body: {} });
    await Promise.all(Array.from({ length: 1_000 }, refuse));
    const accepted = await send(alert('late'));
    expect(await fatesOfNewest()).toEqual([['f-late', 'run', accepted.run_id]]);
    const { body } = await call<string>(`${service.url}/metrics`);
    const dropped = /service_deliveries_dropped_total\{source="alert_router",outcome="invalid"\} (\d+)/.exec(body)?.[1];
    // The repeat of the test above counts too, and the minute may change on the way.
    expect(Number(dropped ?? 0)).toBeLessThanOrEqual(401);
    const kept = async (cursor = ''): Promise<number> => {
      const page = await read<Listed & { next_cursor: string | null }>(
        `/deliveries?outcome=invalid&limit=200${cursor && `&cursor=${cursor}`}`,
      );
      return page.deliveries.length + (page.next_cursor === null ? 0 : await kept(page.next_cursor));
    };
    expect((await kept()) + Number(dropped ?? 0)).toBe(1_000);
  });
});
