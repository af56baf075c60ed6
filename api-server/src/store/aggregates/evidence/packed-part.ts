import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import type { EvidenceRow } from '../../../analytics/readiness/evidence.ts';

/** An execution without what people said of it, which may change. */
export type PackedRow = Omit<EvidenceRow, 'stepOutcome' | 'runOutcome'>;

/** What most executions have in common with others. */
type Kind = Pick<
  PackedRow,
  'stepName' | 'agent' | 'provider' | 'model' | 'promptHash' | 'agentVersion' | 'status' | 'errorType'
>;

/** Executions by column; `run` and `kind` are places in the two lists, `startedAt` counts from the beginning of the day. */
interface Packed {
  runs: readonly number[];
  kinds: readonly Kind[];
  run: number[];
  kind: number[];
  confidence: (number | null)[];
  grounding: (number | null)[];
  checksPassed: (boolean | null)[];
  startedAt: number[];
}

/** Executions of some runs of a day; `runs` are their sequences, the newest first. */
export function pack(day: number, runs: readonly number[], rows: readonly PackedRow[]): Uint8Array {
  const places = new Map(runs.map((seq, at) => [seq, at]));
  const kinds = new Map<string, { at: number; kind: Kind }>();
  const placeOf = ({ stepName, agent, provider, model, promptHash, agentVersion, status, errorType }: Kind): number => {
    const kind = { stepName, agent, provider, model, promptHash, agentVersion, status, errorType };
    const key = JSON.stringify(kind);
    const known = kinds.get(key) ?? { at: kinds.size, kind };
    kinds.set(key, known);
    return known.at;
  };
  const packed: Packed = {
    runs,
    run: rows.map(({ run }) => places.get(run) ?? 0),
    kind: rows.map(placeOf),
    kinds: [...kinds.values()].map(({ kind }) => kind),
    confidence: rows.map(({ confidence }) => confidence),
    grounding: rows.map(({ grounding }) => grounding),
    checksPassed: rows.map(({ checksPassed }) => checksPassed),
    startedAt: rows.map(({ startedAt }) => startedAt - day),
  };
  return zstdCompressSync(JSON.stringify(packed));
}

export function unpack(day: number, body: Uint8Array): { runs: readonly number[]; rows: PackedRow[] } {
  const { runs, kinds, ...columns } = JSON.parse(zstdDecompressSync(body).toString()) as Packed;
  const rows = columns.run.map((run, at): PackedRow => {
    const kind = kinds[columns.kind[at] ?? 0] as Kind;
    return {
      ...kind,
      run: runs[run] ?? 0,
      confidence: columns.confidence[at] ?? null,
      grounding: columns.grounding[at] ?? null,
      checksPassed: columns.checksPassed[at] ?? null,
      startedAt: day + (columns.startedAt[at] ?? 0),
    };
  });
  return { runs, rows };
}
