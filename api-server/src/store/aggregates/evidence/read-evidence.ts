import { type Kysely, sql } from 'kysely';
import type { EvidenceBatch, EvidenceOf, Marks, Outcome } from '../../../analytics/readiness/executions.ts';
import { DAY_MS, type Window } from '../../../analytics/window.ts';
import type { Tables } from '../../db/schema.ts';
import { lastMark } from '../../tables/marks.ts';
import { keptFrom } from '../../tables/retention/kept-days.ts';
import { PACKED } from './pack-evidence.ts';
import { type PackedPart, unpack } from './packed-part.ts';
import { storedRuns, storedRunsIn } from './stored-runs.ts';

/** Packed parts of one read: each may have some megabytes. */
const PARTS = 10;
type Reader = () => Kysely<Tables>;

/**
 * The executions of a pipeline's runs at one stage, the newest runs first: of closed days from what is packed of them, of the others, and
 * of days of which runs were removed since, from their rows.
 */
export async function* readEvidence(reader: Reader, of: EvidenceOf): AsyncGenerator<EvidenceBatch> {
  const packedTo = await lastMark(reader(), PACKED);
  const from = await keptFrom(reader());
  if (packedTo === null) return yield* storedRuns(reader, of);
  let page = await partsOf(reader(), of, { from, before: { day: packedTo, part: 0 } });
  if (page.length === 0) return yield* storedRuns(reader, of);
  yield* storedRunsIn(reader, of, { from: packedTo, to: null });
  let oldest = page.at(-1);
  while (oldest && page.length > 0) {
    yield* unpacked(reader(), of, page);
    page = page.length < PARTS ? [] : await partsOf(reader(), of, { from, before: oldest });
    oldest = page.at(-1) ?? oldest;
  }
  yield* storedRunsIn(reader, of, { from: null, to: oldest?.day ?? null });
}

type StoredPart = Pick<Tables['packed_evidence'], 'day' | 'part' | 'body'>;

/** The next parts before `before` of days from `from` on, the newest first. */
const partsOf = (
  db: Kysely<Tables>,
  { pipeline, stage }: EvidenceOf,
  { from, before }: { from: number; before: Pick<StoredPart, 'day' | 'part'> },
): Promise<StoredPart[]> =>
  db
    .selectFrom('packed_evidence')
    .select(['day', 'part', 'body'])
    .where('pipeline_name', '=', pipeline)
    .where('stage', '=', stage)
    .where('day', '>=', from)
    .where(sql<boolean>`(day, part) < (${before.day}, ${before.part})`)
    .orderBy('day', 'desc')
    .orderBy('part', 'desc')
    .limit(PARTS)
    .execute();

async function* unpacked(db: Kysely<Tables>, of: EvidenceOf, parts: readonly StoredPart[]) {
  const days = parts.map(({ day }) => day);
  const labels = await labelsOf(db, of, { from: Math.min(...days), to: Math.max(...days) + DAY_MS });
  for (const { body } of parts) {
    const { runs, columns, alike } = unpack(body);
    yield { runs, columns, alike, marks: marksOf({ runs, columns, alike }, labels) };
  }
}

/** The mark of a run, and those of its steps by name. */
interface RunMarks {
  run: Outcome | null;
  steps: Map<string, Outcome>;
}

function marksOf({ runs, columns, alike }: PackedPart, labels: ReadonlyMap<number, RunMarks>): Map<number, Marks> {
  const ofRuns = runs.map((seq) => labels.get(seq));
  const marks = new Map<number, Marks>();
  for (const { kind, begin, end } of alike)
    for (let at = begin; at < end; at += 1) {
      const found = ofRuns[columns.run[at] ?? 0];
      if (found) marks.set(at, { stepOutcome: found.steps.get(kind.stepName) ?? null, runOutcome: found.run });
    }
  return marks;
}

/** What people said of the runs of a window and of their steps, by the sequence of the run. */
async function labelsOf(db: Kysely<Tables>, { pipeline, stage }: EvidenceOf, { from, to }: Window) {
  const rows = await db
    .selectFrom('marked_runs')
    .leftJoin('run_feedback', 'run_feedback.run_id', 'marked_runs.run_id')
    .leftJoin('step_feedback', 'step_feedback.run_id', 'marked_runs.run_id')
    .select(['marked_runs.seq', 'run_feedback.outcome as of_run', 'step_feedback.step_name', 'step_feedback.outcome'])
    .where('pipeline_name', '=', pipeline)
    .where('stage', '=', stage)
    .where('triggered_at', '>=', from)
    .where('triggered_at', '<', to)
    .execute();
  const found = new Map<number, RunMarks>();
  for (const { seq, of_run: run, step_name: step, outcome } of rows) {
    const marks = found.get(seq) ?? { run: run as Outcome | null, steps: new Map<string, Outcome>() };
    found.set(seq, marks);
    if (step !== null && outcome !== null) marks.steps.set(step, outcome as Outcome);
  }
  return found;
}
