import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type BenchContext, type Benchmark, type Figure, median } from './benchmark.ts';
import { HttpConnection } from './http-connection.ts';
import { drained, type Target, WEBHOOK_TOKEN } from './services.ts';

const PLAIN = 50;
const PARALLEL = 16;
const FAN_OUT = 200;
const RUNS = 15;

const call = { executor: 'gateway', agent: 'bench', prompt_template: 'Look at {{summary}}' };
const numbered = (count: number) => Array.from({ length: count }, (_, at) => ({ name: `s${at}`, ...call }));
const items = Array.from({ length: FAN_OUT }, (_, at) => at);

const PIPELINES = {
  plain: { count: PLAIN, steps: numbered(PLAIN) },
  parallel: {
    count: PARALLEL,
    steps: [{ name: 'group', parallel: { join: 'all_must_pass', steps: numbered(PARALLEL) } }],
  },
  'fan-out': {
    count: FAN_OUT,
    steps: [{ name: 'each', fan_out: { over: 'vars.items', max_items: FAN_OUT, max_parallel: 16, step: call } }],
  },
};
type Shape = keyof typeof PIPELINES;

/** What the engine spends on a branch of a group, against a step on its own, when the agents answer at once. */
export const branches: Benchmark = {
  name: 'branches',
  about: `time per branch of a parallel group of ${PARALLEL} and a fan-out of ${FAN_OUT} compared with a plain step, with an instant gateway`,
  async run(context) {
    const { startService, directory, gateway } = context;
    const place = join(directory, 'service');
    writePipelines(place);
    const service = await startService(place, gateway.url);
    try {
      return figures(await measure(service, context));
    } finally {
      await service.process.stop();
    }
  },
};

function writePipelines(place: string): void {
  mkdirSync(join(place, 'pipelines'), { recursive: true });
  for (const [name, { steps }] of Object.entries(PIPELINES)) {
    const pipeline = { name, stage: 'production', vars: { items }, steps };
    writeFileSync(join(place, 'pipelines', `${name}.yaml`), JSON.stringify(pipeline));
  }
}

/** The shapes in turn, so that a slow moment of the machine meets all of them. The first round warms up. */
async function measure(service: Target, { progress, rounds }: BenchContext): Promise<Record<Shape, number>> {
  const perStep: Record<Shape, number[]> = { plain: [], parallel: [], 'fan-out': [] };
  for (let round = 0; round <= rounds; round++) {
    for (const shape of Object.keys(PIPELINES) as Shape[]) {
      for (let run = 0; run < RUNS; run++) await oneRun(service, shape, `${shape}-${round}-${run}`);
      const took = timeOf(service, shape) / RUNS / PIPELINES[shape].count;
      if (round > 0) perStep[shape].push(took);
      progress(`${shape} ${took.toFixed(3)} ms a step`);
    }
  }
  return { plain: median(perStep.plain), parallel: median(perStep.parallel), 'fan-out': median(perStep['fan-out']) };
}

async function oneRun(service: Target, pipeline: Shape, key: string): Promise<void> {
  const connection = await HttpConnection.open(`${service.process.url}/webhook?source=generic`, WEBHOOK_TOKEN);
  const answer = await connection.post(JSON.stringify({ pipeline, idempotency_key: key, summary: 'bench' }));
  connection.close();
  if (answer.status !== 202) throw new Error(`the webhook answered ${answer.status}: ${answer.body}`);
  await drained(service);
}

/** Milliseconds that the last runs of a pipeline took together, as stored. */
function timeOf({ databaseFile }: Target, pipeline: Shape): number {
  const db = new DatabaseSync(databaseFile, { readOnly: true });
  try {
    const rows = db
      .prepare(
        `SELECT status, completed_at - triggered_at AS took FROM runs WHERE pipeline_name = ? ORDER BY seq DESC LIMIT ?`,
      )
      .all(pipeline, RUNS) as { status: string; took: number }[];
    const unfinished = rows.find(({ status }) => status !== 'completed');
    if (unfinished) throw new Error(`a run of ${pipeline} ended ${unfinished.status}`);
    return rows.reduce((sum, { took }) => sum + took, 0);
  } finally {
    db.close();
  }
}

function figures(perStep: Record<Shape, number>): Figure[] {
  return (['parallel', 'fan-out'] as const).map((shape) => ({
    what: `a branch of ${PIPELINES[shape].count} (${shape}) compared with a plain step`,
    value: perStep[shape] / perStep.plain,
    unit: 'x',
    limit: { direction: 'most', bound: 1.5 },
    detail: `${perStep[shape].toFixed(3)} ms against ${perStep.plain.toFixed(3)} ms`,
  }));
}
