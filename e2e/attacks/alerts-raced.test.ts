import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { KINDS } from '../faults/databases.ts';
import { call } from '../support/call.ts';
import { scratchDirectory } from '../support/scratch.ts';
import { type Service, startService } from '../support/start-service.ts';
import { type AttackedDatabase, attackedDatabase } from './attacked-database.ts';

const ROUNDS = 60;
const PIPELINE = {
  name: 'shop',
  stage: 'production',
  trigger: { match: { namespace: 'shop' }, dedup: { enabled: true, window_seconds: 3600 } },
  steps: [{ name: 'ask', when: 'false', executor: 'human', prompt_template: 'Look', timeout_seconds: 3600 }],
};
/** What arrives in one round at the same moment, each list at one of the two services. */
const OVERLAPPING = [
  ['checkout'],
  ['checkout', 'payments'],
  ['payments', 'search'],
  ['search', 'checkout'],
  ['payments'],
];

interface Alert {
  fingerprint: string;
  fate: string;
  run_id: string | null;
}

describe.runIf(KINDS.includes('postgres'))('two api-servers on one Postgres', () => {
  const scratch = scratchDirectory('alerts-raced-');
  let database: AttackedDatabase;
  let services: Service[];
  beforeAll(async () => {
    mkdirSync(join(scratch.path, 'pipelines'));
    writeFileSync(join(scratch.path, 'pipelines/shop.yaml'), JSON.stringify(PIPELINE));
    database = await attackedDatabase('postgres', scratch.path);
    const config = join(scratch.path, 'config.yaml');
    const tokens = ['webhook', 'viewer'].map((role) => ({ name: role, token: `${role}-of-the-test`, role }));
    const settings = { pipeline_config_dir: 'pipelines', database: { url: database.url }, auth: { tokens } };
    const concurrency = { max_runs: 1000 };
    writeFileSync(config, JSON.stringify({ server: { host: '127.0.0.1', port: 0 }, concurrency, ...settings }));
    services = await Promise.all([startService('api-server', config), startService('api-server', config)]);
  });
  afterAll(async () => {
    await Promise.all((services ?? []).map((service) => service.stop()));
    await database?.remove();
    scratch.remove();
  });

  const alert = (name: string) => ({
    status: 'firing',
    fingerprint: name,
    labels: { namespace: 'shop', service: name, severity: 'critical' },
  });
  const send = async (at: number, names: readonly string[]) => {
    const body = { version: '4', groupKey: 'g', status: 'firing', alerts: names.map(alert) };
    const url = `${services[at % 2]?.url}/webhook?source=alert_router`;
    const answer = await call<{ status: string }>(url, { token: 'webhook-of-the-test', body });
    return answer.body.status;
  };
  const read = async <T>(path: string) =>
    (await call<T>(`${services[0]?.url}${path}`, { token: 'viewer-of-the-test' })).body;

  async function fates(): Promise<Alert[]> {
    const all: Alert[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const page: { deliveries: { id: number }[]; next_cursor: string | null } = await read(
        `/deliveries?limit=200${cursor && `&cursor=${cursor}`}`,
      );
      for (const { id } of page.deliveries) all.push(...(await read<{ alerts: Alert[] }>(`/deliveries/${id}`)).alerts);
      cursor = page.next_cursor;
    }
    return all;
  }

  test('give every alert of overlapping deliveries exactly one run, whichever of them takes it in', async () => {
    const answers = new Set<string>();
    for (let round = 0; round < ROUNDS; round += 1) {
      const sent = OVERLAPPING.map((names, index) =>
        send(
          index + round,
          names.map((name) => `${name}-${round}`),
        ),
      );
      for (const status of await Promise.all(sent)) answers.add(status);
    }
    expect([...answers].toSorted()).toEqual(['accepted', 'deduplicated']);
    const byFingerprint = Map.groupBy(await fates(), ({ fingerprint }) => fingerprint);
    expect(byFingerprint.size).toBe(3 * ROUNDS);
    for (const alerts of byFingerprint.values()) {
      const taken = alerts.filter(({ fate }) => fate !== 'suppressed');
      expect(taken.map(({ fate }) => fate)).toEqual([expect.stringMatching(/^(run|merged)$/)]);
      expect(new Set(alerts.map(({ run_id: run }) => run))).toEqual(new Set([taken[0]?.run_id]));
    }
    const { total } = await read<{ total: number }>('/runs');
    expect(total).toBe([...byFingerprint.values()].flat().filter(({ fate }) => fate === 'run').length);
  });
});
