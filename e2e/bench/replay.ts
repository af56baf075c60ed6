import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type BenchContext, type Benchmark, type Figure, median, milliseconds } from './benchmark.ts';
import { drained, OPERATOR_TOKEN, type Target, WEBHOOK_TOKEN } from './services.ts';

const SAMPLES = 100;
const WIDTH = 3;
const ROUNDS = Math.ceil(SAMPLES / WIDTH);
const REPORTS = 20;
const CONNECTIONS = 2;
const STEP = { bucket: 'current', candidate: {}, mode: 'rendered', k: SAMPLES };

const call = { executor: 'gateway', agent: 'bench', prompt_template: 'Look at {{summary}}' };
const numbered = (prefix: string, count: number) =>
  Array.from({ length: count }, (_, at) => ({ name: `${prefix}${at}`, ...call }));

const PIPELINES = {
  rounds: Array.from({ length: ROUNDS }, (_, at) => ({
    name: `group${at}`,
    parallel: { join: 'all_must_pass', steps: numbered(`g${at}s`, WIDTH) },
  })),
  chain: numbered('step', 3),
};

/** What a batch spends on a sample beside the call, and how long its report takes. */
export const replay: Benchmark = {
  name: 'replay',
  about: `a replay of ${SAMPLES} samples compared with ${ROUNDS} parallel groups of ${WIDTH}, the time of its report and what it does to intake, with an instant gateway`,
  async run(context) {
    const { startService, directory, gateway } = context;
    const place = join(directory, 'service');
    writePipelines(place);
    const service = await startService(place, gateway.url);
    try {
      await record(service, context, 'chain');
      return [...(await measure(service, context)), await besideIntake(service, context)];
    } finally {
      await service.process.stop();
    }
  },
};

function writePipelines(place: string): void {
  mkdirSync(join(place, 'pipelines'), { recursive: true });
  for (const [name, steps] of Object.entries(PIPELINES))
    writeFileSync(
      join(place, 'pipelines', `${name}.yaml`),
      JSON.stringify({ name, stage: 'production', trigger: { dedup: { enabled: false } }, steps }),
    );
}

/** Recorded runs with a mark on their first step. */
async function record(service: Target, { progress }: BenchContext, pipeline: string): Promise<void> {
  for (let run = 0; run < SAMPLES; run++) {
    const { run_id: id } = await alert(service, pipeline);
    await drained(service);
    await ask(service, 'POST', `/runs/${id}/steps/step0/feedback`, { body: { outcome: 'correct' } });
  }
  progress(`${SAMPLES} runs recorded and marked`);
}

async function measure(service: Target, { rounds, progress }: BenchContext): Promise<Figure[]> {
  const took: Record<'groups' | 'batch', number[]> = { groups: [], batch: [] };
  const reports: Record<'step' | 'chain', number[]> = { step: [], chain: [] };
  const chain = { from_step: 'step0', to_step: 'step2', candidate: {}, k: SAMPLES };
  // The first round warms up.
  for (let round = 0; round <= rounds; round++) {
    await alert(service, 'rounds');
    await drained(service);
    const groups = newest(service, 'generic');
    const { run_id: batch } = await ask<Started>(service, 'POST', '/steps/step0/replay', { body: STEP });
    const replayed = newest(service, 'replay');
    const { run_id: range } = await ask<Started>(service, 'POST', '/pipelines/chain/replay', { body: chain });
    const [one, many] = [await reportTime(service, batch), await reportTime(service, range)];
    progress(`${replayed} ms against ${groups} ms; reports ${milliseconds(one)} and ${milliseconds(many)}`);
    if (round === 0) continue;
    took.groups.push(groups);
    took.batch.push(replayed);
    reports.step.push(one);
    reports.chain.push(many);
  }
  return figures(took, reports);
}

/** Whether batches, one after the other, slow the intake of new alerts. */
async function besideIntake(service: Target, { load, rounds, seconds, progress }: BenchContext): Promise<Figure> {
  const took: Record<'quiet' | 'beside', number[]> = { quiet: [], beside: [] };
  const p99 = async (word: keyof typeof took) => {
    await drained(service);
    const result = await load.run(service, { connections: CONNECTIONS, amount: { seconds } });
    progress(`${word} p99 of the webhook ${milliseconds(result.p99)}`);
    took[word].push(result.p99);
  };
  for (let round = 0; round < rounds; round++) {
    await p99('quiet');
    const stopped = new AbortController();
    const batches = replayUntil(service, stopped.signal);
    await p99('beside');
    stopped.abort();
    await batches;
  }
  const [quiet, beside] = [median(took.quiet), median(took.beside)];
  return {
    what: 'p99 of the webhook beside a running batch, compared with none',
    value: beside / quiet,
    unit: 'x',
    limit: { direction: 'most', bound: 2 },
    detail: `${milliseconds(beside)} against ${milliseconds(quiet)}`,
  };
}

async function replayUntil(service: Target, stopped: AbortSignal): Promise<void> {
  while (!stopped.aborted) await ask(service, 'POST', '/steps/step0/replay', { body: STEP });
}

interface Started {
  run_id: string;
}

const alert = (service: Target, pipeline: string): Promise<Started> =>
  ask(service, 'POST', '/webhook?source=generic', { body: { pipeline, summary: 'bench' }, token: WEBHOOK_TOKEN });

interface Asked {
  body?: object;
  token?: string;
}

async function ask<T>(
  service: Target,
  method: string,
  path: string,
  { body, token = OPERATOR_TOKEN }: Asked = {},
): Promise<T> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const response = await fetch(`${service.process.url}${path}`, {
    method,
    headers,
    body: body && JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${await response.text()}`);
  return (await response.json()) as T;
}

/** Milliseconds that the newest run of a source took, as stored. */
function newest({ databaseFile }: Target, source: string): number {
  const db = new DatabaseSync(databaseFile, { readOnly: true });
  try {
    const row = db
      .prepare(
        `SELECT status, completed_at - triggered_at AS took FROM runs WHERE source = ? ORDER BY seq DESC LIMIT 1`,
      )
      .get(source) as { status: string; took: number };
    if (row.status !== 'completed') throw new Error(`the newest run of ${source} ended ${row.status}`);
    return row.took;
  } finally {
    db.close();
  }
}

async function reportTime(service: Target, runId: string): Promise<number> {
  const times: number[] = [];
  for (let report = 0; report < REPORTS; report++) {
    const begun = performance.now();
    await ask(service, 'GET', `/replays/${runId}/report`);
    times.push(performance.now() - begun);
  }
  return median(times);
}

function figures(
  { groups, batch }: Record<'groups' | 'batch', number[]>,
  { step, chain }: Record<'step' | 'chain', number[]>,
): Figure[] {
  return [
    {
      what: `a replay of ${SAMPLES} samples compared with ${ROUNDS} groups of ${WIDTH}`,
      value: median(batch) / median(groups),
      unit: 'x',
      limit: { direction: 'most', bound: 1.3 },
      detail: `${milliseconds(median(batch))} against ${milliseconds(median(groups))}`,
    },
    {
      what: `report of ${SAMPLES} samples`,
      value: median(step),
      unit: 'ms',
      limit: { direction: 'most', bound: 50 },
    },
    {
      what: `report of a range of 3 steps over ${SAMPLES} runs`,
      value: median(chain),
      unit: 'ms',
      limit: { direction: 'most', bound: 150 },
    },
  ];
}
