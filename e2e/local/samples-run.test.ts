import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { call } from '../support/call.ts';
import { type LocalServices, startLocalServices } from '../support/local-services.ts';
import { scratchDirectory } from '../support/scratch.ts';
import { ROOT } from '../support/start-service.ts';
import { waitFor } from '../support/wait-for.ts';

interface Step {
  step_name: string;
  status: string;
  checks: { passed: boolean }[];
  artifacts: string[];
  raw_response: Record<string, unknown> | null;
}
interface Run {
  id: string;
  status: string;
  stage: string;
  waiting_on: string | null;
  children: { id: string; pipeline_name: string }[];
  steps: Step[];
}

const SAMPLES = join(ROOT, 'config/samples/pipelines');
const names = readdirSync(SAMPLES).map(
  (file) => (parse(readFileSync(join(SAMPLES, file), 'utf8')) as { name: string }).name,
);

/** The expected result of each sample; one that waits for a person continues only after a decision. */
const ENDS: Record<string, string> = { 'disk-forecast': 'escalated', 'guarded-restart': 'waiting' };

const undo: (() => Promise<unknown> | void)[] = [];
let services: LocalServices;
beforeAll(async () => {
  const scratch = scratchDirectory('samples-');
  undo.push(scratch.remove);
  const reports = createServer((_request, response) => response.end('{}'));
  await new Promise<void>((resolve) => reports.listen(0, '127.0.0.1', resolve));
  undo.push(() => void reports.close());
  const url = `http://127.0.0.1:${(reports.address() as AddressInfo).port}/reports`;
  services = await startLocalServices({ dataDir: scratch.path, env: { DEPLOY_REPORT_URL: url } });
  undo.push(services.stop);
});
afterAll(async () => {
  for (let last = undo.pop(); last; last = undo.pop()) await last();
});

async function runOf(pipeline: string): Promise<Run> {
  const { apiServer, tokens } = services;
  const body = {
    summary: `A run of ${pipeline}`,
    data: { service: 'checkout', release: '1.42', mountpoint: '/', instance: 'web-1' },
  };
  const started = await call<{ run_id: string }>(`${apiServer.url}/pipelines/${pipeline}/run`, {
    token: tokens.operator,
    body,
  });
  expect([pipeline, started.status]).toEqual([pipeline, 202]);
  let run: Run | null = null;
  const read = async () => {
    run = (await call<Run>(`${apiServer.url}/runs/${started.body.run_id}`, { token: tokens.viewer })).body;
    return (run.status !== 'running' && run.status !== 'queued') || run.waiting_on !== null;
  };
  await waitFor(read, { what: `the run of ${pipeline} to end` });
  return run!;
}

const outcome = ({ status, waiting_on }: Run): string => (waiting_on === null ? status : 'waiting');
const step = (run: Run, name: string): Step => run.steps.find(({ step_name }) => step_name === name)!;

const SHOWS: Record<string, (run: Run) => void> = {
  'host-incident': (run) => {
    expect(run.steps.map(({ step_name }) => step_name).toSorted()).toEqual(
      ['diagnose', 'load', 'measure', 'memory', 'report'].toSorted(),
    );
    const { raw_response: raw, checks } = step(run, 'diagnose');
    expect(raw).toMatchObject({ verifier: { agent: 'reviewer', score: 0.79 }, grounding: { score: 0.83 } });
    expect(checks).toMatchObject([{ passed: true }]);
    expect(step(run, 'report').artifacts).toEqual(['report.md']);
  },
  'morning-sweep': (run) => {
    expect(step(run, 'look').raw_response).toMatchObject({ items: ['load', 'memory', 'disks'] });
    expect(step(run, 'look/2').status).toBe('completed');
  },
  'after-deploy': (run) => {
    expect(run).toMatchObject({ stage: 'testing', children: [{ pipeline_name: 'host-load' }] });
    expect(step(run, 'inspect').raw_response).toMatchObject({ child_run_id: run.children[0]!.id });
  },
};

test.each(names)('the sample %s runs as it is written', async (name) => {
  const run = await runOf(name);
  expect(outcome(run)).toBe(ENDS[name] ?? 'completed');
  SHOWS[name]?.(run);
});

test('the schedule of a sample is known, and its next run is on a weekday', async () => {
  const { apiServer, tokens } = services;
  const { body } = await call<{ schedules: { pipeline: string; next_run: string }[] }>(`${apiServer.url}/schedules`, {
    token: tokens.viewer,
  });
  expect(body.schedules.map(({ pipeline }) => pipeline)).toEqual(['morning-sweep']);
  expect([1, 2, 3, 4, 5]).toContain(new Date(body.schedules[0]!.next_run).getUTCDay());
});
