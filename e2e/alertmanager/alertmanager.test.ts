import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { call } from '../support/call.ts';
import { type LocalServices, startLocalServices } from '../support/local-services.ts';
import { scratchDirectory } from '../support/scratch.ts';
import { waitFor } from '../support/wait-for.ts';
import { addAlert, type Alertmanager, startAlertmanager } from './start-alertmanager.ts';

interface Run {
  readonly id: string;
  readonly status: string;
  readonly team: string | null;
}

interface RunDetail extends Run {
  readonly fingerprint: string;
  readonly steps: readonly { step_name: string; status: string; effective_confidence: number }[];
}

const ALERT = {
  labels: { alertname: 'HostHighLoad', severity: 'critical', instance: 'web-7' },
  summary: 'The load of web-7 is above 4 per CPU',
};

const scratch = scratchDirectory('alertmanager-');
let services: LocalServices;
let alertmanager: Alertmanager;

const start = (token: string, name: string) => {
  const directory = join(scratch.path, name);
  mkdirSync(directory);
  return startAlertmanager({ directory, token, webhookUrl: `${services.apiServer.url}/webhook?source=alert_router` });
};

const runs = async () => {
  const url = `${services.apiServer.url}/runs?pipeline=host-load`;
  return (await call<{ runs: Run[] }>(url, { token: services.tokens.viewer })).body.runs;
};

const detail = async (id: string) => {
  return (await call<RunDetail>(`${services.apiServer.url}/runs/${id}`, { token: services.tokens.viewer })).body;
};

const endedRun = (count: number) =>
  waitFor(
    async () => {
      const [newest, ...older] = await runs();
      return newest && older.length === count - 1 && !['queued', 'running'].includes(newest.status) ? newest : null;
    },
    { what: `run ${count} to end` },
  );

beforeAll(async () => {
  services = await startLocalServices({ dataDir: join(scratch.path, 'data') });
  alertmanager = await start(services.tokens.webhook, 'trusted');
});

afterAll(async () => {
  await alertmanager?.stop();
  await services?.stop();
  scratch.remove();
});

test('an alert fired with amtool becomes a run that completes', async () => {
  await addAlert(alertmanager, ALERT);
  const run = await detail((await endedRun(1)).id);
  expect(run).toMatchObject({ status: 'completed', team: 'platform', source: 'alert_router', severity: 'critical' });
  expect(run.fingerprint).toMatch(/firing$/);
  expect(run.steps.map(({ step_name, status }) => [step_name, status])).toEqual([
    ['observe', 'completed'],
    ['triage', 'completed'],
  ]);
  expect(run.steps.every((step) => step.effective_confidence >= 0.75)).toBe(true);
});

test('a repeat of the notification starts no second run', async () => {
  const sent = () => alertmanager.metric('alertmanager_notifications_total');
  const before = await sent();
  await waitFor(async () => (await sent()) >= before + 2, { what: 'two repeats' });
  expect(await alertmanager.metric('alertmanager_notifications_failed_total')).toBe(0);
  expect(await runs()).toHaveLength(1);
});

test('the resolve makes a run of its own', async () => {
  await addAlert(alertmanager, { ...ALERT, end: new Date() });
  const run = await detail((await endedRun(2)).id);
  expect(run.status).toBe('completed');
  expect(run.fingerprint).toMatch(/resolved$/);
});

test('an Alertmanager with a wrong credential starts nothing, and the service counts it', async () => {
  const stranger = await start('not-the-webhook-token', 'stranger');
  try {
    await addAlert(stranger, { ...ALERT, labels: { ...ALERT.labels, instance: 'web-8' } });
    const metrics = async () => (await call<string>(`${services.apiServer.url}/metrics`)).body;
    await waitFor(async () => /service_auth_failures_total\{reason="invalid"\} [1-9]/.test(await metrics()), {
      what: 'the refused delivery to be counted',
    });
    expect(await runs()).toHaveLength(2);
  } finally {
    await stranger.stop();
  }
});
