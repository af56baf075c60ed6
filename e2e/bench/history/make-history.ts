import { createRegistry } from '../../../api-server/src/definitions/registry.ts';
import type { LoadedPipeline } from '../../../api-server/src/definitions/snapshot.ts';
import { OUTCOMES } from '../../../api-server/src/runs/state/model.ts';
import { newRunRow } from '../../../api-server/src/runs/state/new-run.ts';
import { runCounters, stepCounters } from '../../../api-server/src/runs/state/rollups.ts';
import type { Database, Tx } from '../../../api-server/src/store/db/database.ts';
import { perform } from '../../../api-server/src/store/db/write.ts';
import { markRun, markStep } from '../../../api-server/src/store/tables/feedback.ts';
import { insertRun, keepDefinition } from '../../../api-server/src/store/tables/run-writes.ts';
import { runWrites } from '../../../api-server/src/store/tables/run-store.ts';
import { storeUses } from '../../../api-server/src/store/tables/versions/version-uses.ts';
import { createUses } from '../../../api-server/src/versions/uses.ts';
import { storeAround } from './around.ts';
import { contextOf, endOf, endRecord, eventsOf, type MadeRun, stepsOfRun } from './rows.ts';
import { createRandom, idAt, type Random } from './random.ts';
import { DAYS, EDITIONS, pipelineName, PIPELINES, STEPS_A_RUN, teamOf, writeDefinitions } from './shape.ts';

export interface HistorySize {
  /** Steps at most: a run has up to five. */
  steps: number;
  seed: number;
  /** When the last run was triggered, in milliseconds. */
  until: number;
}

/** Runs that are stored in one transaction. */
const BATCH = 100;
/** Runs between two turns of what the service does in the background. */
const BETWEEN = 1_000;
const MARKED_PERCENT = 3;

/**
 * Fills an empty database through the functions by which the engine stores runs, so that sums, counters, attention and editions
 * are what the product makes of them. Only the transactions differ: each holds many runs.
 */
export async function makeHistory(
  database: Database,
  size: HistorySize,
  { directory, progress }: { directory: string; progress: (runs: number) => Promise<void> | void },
): Promise<number> {
  const random = createRandom(size.seed);
  const editions = await loadEditions(directory);
  const uses = createUses({
    store: (batch) => database.write((tx) => storeUses(tx, batch)),
    stored: () => undefined,
    log: { warn: (_, message) => console.error(message) },
  });
  const runs = Math.ceil(size.steps / STEPS_A_RUN);
  const every = (DAYS * 86_400_000) / runs;
  const begin = size.until - DAYS * 86_400_000;
  await database.write(async (tx) => {
    for (const { hash, name, config } of editions.flat())
      await keepDefinition(tx, { hash, kind: 'Pipeline', name, body: JSON.stringify(config), stored_at: begin });
  });
  for (let first = 0; first < runs; first += BATCH) {
    const made = Array.from({ length: Math.min(BATCH, runs - first) }, (_, n) => {
      const triggeredAt = Math.floor(begin + (first + n + random.next()) * every);
      return makeRun({ number: first + n, editions, triggeredAt, until: size.until }, random);
    });
    await database.write(async (tx) => {
      for (const run of made) await run.store(tx);
    });
    for (const step of made.flatMap(({ steps }) => steps)) uses.note(step);
    if ((first + made.length) % BETWEEN === 0) await progress(first + made.length);
  }
  await uses.flush();
  return runs;
}

async function loadEditions(directory: string): Promise<(readonly LoadedPipeline[])[]> {
  const editions: (readonly LoadedPipeline[])[] = [];
  for (let edition = 1; edition <= EDITIONS; edition += 1) {
    const pipelineDir = writeDefinitions(directory, edition);
    const registry = await createRegistry({
      pipelineDir,
      stepDir: null,
      managedDir: null,
      operator: {},
      now: () => 1,
    });
    editions.push(registry.current().pipelines);
  }
  return editions;
}

interface Place {
  number: number;
  editions: (readonly LoadedPipeline[])[];
  triggeredAt: number;
  until: number;
}

/** A few pipelines have most runs: the first one about a quarter. */
function drawPipeline({ next }: Random): number {
  return Math.min(PIPELINES - 1, Math.floor((PIPELINES + 1) ** next()) - 1);
}

function makeRun({ number, editions, triggeredAt, until }: Place, random: Random) {
  const pipeline = drawPipeline(random);
  const left = (until - triggeredAt) / (DAYS * 86_400_000);
  const edition = Math.max(1, EDITIONS - Math.floor(left * EDITIONS));
  const loaded = editions[edition - 1]?.find(({ name }) => name === pipelineName(pipeline));
  if (loaded === undefined) throw new Error(`${pipelineName(pipeline)} is not loaded`);
  const run: MadeRun = { id: idAt(triggeredAt, random), number, loaded, edition, triggeredAt, random };
  const context = contextOf(run);
  const request = { pipeline: loaded, context, team: teamOf(pipeline), dedupKey: null };
  const row = newRunRow(request, { id: run.id, status: 'running', now: triggeredAt });
  const end = endOf(random);
  const steps = stepsOfRun(run, pipeline, end);
  const ended = endRecord(run, steps, end);
  const writes = [
    ...steps.flatMap((step) => [
      runWrites.insertStep(step),
      runWrites.addCounters(stepCounters(step, step.rawResponse?.costs ?? [])),
      runWrites.endStep(step),
    ]),
    runWrites.appendEvents(run.id, { firstSeq: 1, json: JSON.stringify(eventsOf(run, steps)) }),
    runWrites.addCounters(runCounters({ stage: ended.stage as 'production', pipeline: loaded.name, status: end })),
    runWrites.endRun(ended),
  ];
  const mark = random.chance(MARKED_PERCENT) ? drawMark(random, steps.length) : null;
  const store = async (tx: Tx) => {
    await insertRun(tx, row);
    await perform(tx, writes);
    await storeAround(tx, { number, context, run: ended, steps });
    if (mark === null) return;
    const { outcome, step } = mark;
    const given = { runId: run.id, outcome, notes: null, submittedAt: ended.completed_at, submittedBy: 'bench' };
    const stepName = step === null ? undefined : steps[step]?.stepName;
    await (stepName === undefined ? markRun(tx, given) : markStep(tx, { ...given, stepName }));
  };
  return { steps, store };
}

/** Half of the marks are of a run, half of one of its steps. */
function drawMark(random: Random, steps: number) {
  const outcome = random.chance(80) ? 'correct' : (OUTCOMES[random.below(OUTCOMES.length)] ?? 'correct');
  return { outcome, step: random.chance(50) ? random.below(steps) : null };
}
