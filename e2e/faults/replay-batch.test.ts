import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Database } from '../../api-server/src/store/db/database.ts';
import { openDatabase } from '../../api-server/src/store/db/open-database.ts';
import { postgresBinaries } from '../../api-server/src/store/fixtures/postgres-binaries.ts';
import { type FakeGateway, type GatewayCall, startFakeGateway } from '../bench/fake-gateway.ts';
import type { Launched } from '../bench/process.ts';
import { GATEWAY_TOKEN, launchService, type Place, preparePlace } from '../crash/service.ts';
import { call } from '../support/call.ts';
import { scratchDirectory } from '../support/scratch.ts';
import { waitFor } from '../support/wait-for.ts';
import { type Databases, openDatabases } from './databases.ts';

const TOKEN = 'replay-operator-0000000000000000000000';
const SAMPLES = 20;
const WIDTH = 3;
/** Long enough that a batch is found in the middle. */
const ANSWER_MS = 200;

const scratch = scratchDirectory('signalbox-replay-batch-');
const calls: GatewayCall[] = [];
let answerMs = 0;
let databases: Databases;
let database: Database;
let gateway: FakeGateway;
let place: Place;
let services: Service[] = [];
let launched = 0;

type Service = Launched & { logFile: string };

const start = (): Service => {
  const logFile = join(place.data, `service-${++launched}.log`);
  return { ...launchService({ ...place, logFile }, { SIGNALBOX_FAILPOINT: 'short_lease' }), logFile };
};

async function ask<T>(
  service: Launched,
  path: string,
  options: { body?: object; headers?: Record<string, string> } = {},
) {
  const answer = await call<T>(`${await service.listening}${path}`, { token: TOKEN, timeoutMs: 240_000, ...options });
  if (answer.status >= 300) throw new Error(`${path} answered ${answer.status}: ${JSON.stringify(answer.body)}`);
  return answer.body;
}

/** Runs of the pipeline with a mark on their first step, asked of both in turn. */
async function record(): Promise<void> {
  const ids = await Promise.all(
    Array.from({ length: SAMPLES }, async (_none, at) => {
      const service = services[at % 2] as Service;
      return (await ask<{ run_id: string }>(service, '/pipelines/crash/run', { body: { summary: `case ${at}` } }))
        .run_id;
    }),
  );
  const isOver = async (id: string) => (await statusOf(id)) === 'completed';
  for (const id of ids) {
    await waitFor(() => isOver(id), { what: `run ${id} to complete`, timeoutMs: 120_000 });
    await ask(services[0] as Service, `/runs/${id}/steps/triage/feedback`, { body: { outcome: 'correct' } });
  }
}

const statusOf = async (id: string) =>
  (await database.db.selectFrom('runs').select('status').where('id', '=', id).executeTakeFirst())?.status;

/** Which of the two runs the batch. */
async function ownerOf(id: string): Promise<number> {
  const { owner } = await database.db.selectFrom('runs').select('owner').where('id', '=', id).executeTakeFirstOrThrow();
  return services.findIndex(({ logFile }) => {
    const lines = readFileSync(logFile, 'utf8').split('\n');
    const held = lines.findLast((line) => line.includes('this replica holds its lease'));
    return held !== undefined && (JSON.parse(held) as { epoch: number }).epoch === Number(owner);
  });
}

/** Candidates that anybody could see as answered. */
async function answered(id: string): Promise<string[]> {
  const rows = await database.db
    .selectFrom('step_executions')
    .select('step_name')
    .where('run_id', '=', id)
    .where('status', '=', 'completed')
    .execute();
  return rows.map(({ step_name }) => step_name);
}

const counted = async (service: Service): Promise<number> => {
  const lines = (await ask<string>(service, '/metrics')).split('\n');
  const grades = lines.filter((line) => line.startsWith('service_replay_steps_total{'));
  return grades.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
};

interface Row {
  status: string;
}
interface Report {
  status: string;
  kind: string;
  unreplayable_count: number;
  rows?: Row[];
  runs?: { result: string; steps: Row[] }[];
}

describe.runIf(postgresBinaries() !== null)(
  'a batch of two api-servers that share a database',
  { timeout: 900_000 },
  () => {
    beforeAll(async () => {
      databases = await openDatabases('postgres');
      const location = await databases.fresh(scratch.path);
      gateway = await startFakeGateway({
        token: GATEWAY_TOKEN,
        onCall: (one) => calls.push(one),
        delay: () => answerMs,
      });
      database = await openDatabase({ ...location, autoMigrate: true, now: Date.now });
      place = preparePlace(scratch.path, {
        gatewayUrl: gateway.url,
        ...('url' in location && { databaseUrl: location.url }),
      });
      const config = JSON.parse(readFileSync(place.config, 'utf8'));
      config.auth.tokens.push({ name: 'operator', token: TOKEN, role: 'operator' });
      config.replay = { safe_agents: ['gateway:crash'] };
      writeFileSync(place.config, JSON.stringify(config));
      services = [start(), start()];
      await Promise.all(services.map(({ listening }) => listening));
      await record();
    }, 600_000);

    afterAll(async () => {
      await Promise.all(services.map((service) => service.kill()));
      await database?.close();
      await gateway?.close();
      await databases?.[Symbol.asyncDispose]();
      scratch.remove();
    });

    test.each([
      [
        'killed',
        'a step',
        '/steps/triage/replay',
        { bucket: 'current', candidate: { model: 'm2' }, mode: 'rerender' },
        1,
      ],
      [
        'stopped',
        'a step',
        '/steps/triage/replay',
        { bucket: 'current', candidate: { model: 'm3' }, mode: 'rendered' },
        1,
      ],
      [
        'killed',
        'a range of steps',
        '/pipelines/crash/replay',
        { from_step: 'triage', to_step: 'conclude', candidate: { triage: { model: 'm2' } } },
        3,
      ],
    ] as const)(
      'is finished by the other where the one that runs it is %s: %s',
      async (fault, _what, path, body, steps) => {
        const before = await counted(services[0] as Service);
        calls.length = 0;
        answerMs = ANSWER_MS;
        const launch = { body: { ...body, k: SAMPLES }, headers: { 'idempotency-key': `${fault} ${path}` } };
        // The client that waits at the one that ends hears nothing, or that the batch goes on.
        const waiting = ask(services[0] as Service, path, launch).catch(() => undefined);
        await waitFor(() => calls.length > WIDTH * 2, { what: 'the batch to be under way', timeoutMs: 60_000 });
        const runId = calls[0]?.run_id ?? '';
        const at = await ownerOf(runId);
        const [victim, other] = [services[at] as Service, services[1 - at] as Service];
        await (fault === 'killed' ? victim.kill() : victim.stop());
        const kept = new Set(await answered(runId));
        const asked = calls.splice(0);
        const successor = start();
        services[at] = successor;

        // The same launch finds the batch at the other one, and waits for its end.
        expect(await ask(other, path, launch)).toEqual({ status: 'completed', run_id: runId });
        await waiting;
        answerMs = 0;
        expect(calls.filter(({ step_name: name }) => kept.has(name))).toEqual([]);
        const inFlight = asked.filter(({ step_name: name }) => !kept.has(name));
        expect(inFlight.length).toBeLessThanOrEqual(WIDTH);
        const keys = Map.groupBy([...asked, ...calls], ({ step_name: name }) => name);
        expect(keys.size).toBe(SAMPLES * steps);
        const again = [...keys.values()].filter((all) => all.length > 1);
        expect(again.length).toBeLessThanOrEqual(inFlight.length);
        for (const all of keys.values()) expect(new Set(all.map((one) => one.idempotency_key)).size).toBe(1);

        const report = await ask<Report>(other, `/replays/${runId}/report`);
        const rows = report.rows ?? report.runs?.flatMap((run) => run.steps) ?? [];
        expect([report.status, report.unreplayable_count, rows.length]).toEqual(['completed', 0, SAMPLES * steps]);
        expect(new Set(rows.map(({ status }) => status))).toEqual(new Set(['completed']));
        await successor.listening;
        expect((await counted(successor)) - before).toBe(SAMPLES * steps);
      },
    );
  },
);
