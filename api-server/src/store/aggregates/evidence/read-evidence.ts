import { type Kysely, sql } from 'kysely';
import type { EvidenceBatch, EvidenceOf, EvidenceRow, Outcome } from '../../../analytics/readiness/evidence.ts';
import { DAY_MS, type Window } from '../../../analytics/window.ts';
import type { Tables } from '../../db/schema.ts';
import { lastMark } from '../../tables/marks.ts';
import { keptFrom } from '../../tables/retention/kept-days.ts';
import { PACKED } from './pack-evidence.ts';
import { type PackedRow, unpack } from './packed-part.ts';
import { storedRuns, storedRunsIn } from './stored-runs.ts';

/** Packed parts of one read. */
const PARTS = 10;
type Reader = () => Kysely<Tables>;

/**
 * The executions of a pipeline's runs at one stage, the newest runs first: of closed days from what is packed of them, of the others, and
 * of days of which runs were removed since, from their rows.
 */
export async function* readEvidence(reader: Reader, of: EvidenceOf): AsyncGenerator<EvidenceBatch> {
  const packedTo = await lastMark(reader(), PACKED);
  const from = await keptFrom(reader());
  let page = packedTo === null ? [] : await partsOf(reader(), of, { from, before: null });
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
  { from, before }: { from: number; before: StoredPart | null },
): Promise<StoredPart[]> =>
  db
    .selectFrom('packed_evidence')
    .select(['day', 'part', 'body'])
    .where('pipeline_name', '=', pipeline)
    .where('stage', '=', stage)
    .where('day', '>=', from)
    .$if(before !== null, (query) => query.where(sql<boolean>`(day, part) < (${before?.day}, ${before?.part})`))
    .orderBy('day', 'desc')
    .orderBy('part', 'desc')
    .limit(PARTS)
    .execute();

async function* unpacked(db: Kysely<Tables>, of: EvidenceOf, parts: readonly StoredPart[]) {
  const days = parts.map(({ day }) => day);
  const labels = await labelsOf(db, of, { from: Math.min(...days), to: Math.max(...days) + DAY_MS });
  for (const { day, body } of parts) {
    const { runs, rows } = unpack(day, body);
    yield { runs: runs.length, rows: rows.map((row) => labelled(row, labels.get(row.run))) };
  }
}

/** The mark of a run, and those of its steps by name. */
interface Marks {
  run: Outcome | null;
  steps: Map<string, Outcome>;
}

const labelled = (row: PackedRow, marks: Marks | undefined): EvidenceRow => ({
  ...row,
  stepOutcome: marks?.steps.get(row.stepName) ?? null,
  runOutcome: marks?.run ?? null,
});

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
  const found = new Map<number, Marks>();
  for (const { seq, of_run: run, step_name: step, outcome } of rows) {
    const marks = found.get(seq) ?? { run: run as Outcome | null, steps: new Map<string, Outcome>() };
    found.set(seq, marks);
    if (step !== null && outcome !== null) marks.steps.set(step, outcome as Outcome);
  }
  return found;
}
