import type { Stage } from '../../runs/state/model.ts';

export type Outcome = 'correct' | 'partial' | 'incorrect';

/** Whose executions are evidence. */
export interface EvidenceOf {
  pipeline: string;
  stage: Stage;
}

export interface Combo {
  agent: string | null;
  provider: string | null;
  model: string | null;
  promptHash: string | null;
  agentVersion: string | null;
}

/** What most executions have in common with others. */
export interface Kind extends Combo {
  stepName: string;
  status: string;
  errorType: string | null;
}

/** The mark of a step, and that of its run. */
export interface Marks {
  stepOutcome: Outcome | null;
  runOutcome: Outcome | null;
}

/** One execution as the store gives it; `run` is the sequence of its run. Times are milliseconds. */
export interface EvidenceRow extends Kind, Marks {
  run: number;
  /** After the verifier. */
  confidence: number | null;
  grounding: number | null;
  checkFailed: boolean;
  startedAt: number;
}

/** Executions, a column for each thing that is known of them; NaN where a number is not. */
export interface Columns {
  /** The place of the run among those of the batch. */
  run: Uint16Array;
  startedAt: Float64Array;
  confidence: Float64Array;
  grounding: Float64Array;
  /** 1 or 0. */
  checkFailed: Uint8Array;
}

/** Executions of one kind, which stand beside each other in the columns. */
export interface Alike {
  kind: Kind;
  begin: number;
  end: number;
}

/** The executions of some runs. A run of very many is in several batches, one behind the other, that have no other run. */
export interface EvidenceBatch {
  /** Their sequences. */
  runs: readonly number[];
  columns: Columns;
  alike: readonly Alike[];
  /** Of those that have one, by their place in the columns. */
  marks: ReadonlyMap<number, Marks>;
}

/** The rows of some runs, less than 65,536; `runs` are their sequences. */
export function batchOf(runs: readonly number[], rows: readonly EvidenceRow[]): EvidenceBatch {
  const places = new Map(runs.map((seq, at) => [seq, at]));
  const kinds = Map.groupBy(rows, (row) => JSON.stringify(Object.values(kindOf(row))));
  const sorted = [...kinds.values()].flat();
  const numbers = (of: (row: EvidenceRow) => number | null) =>
    Float64Array.from(sorted, (row) => of(row) ?? Number.NaN);
  let end = 0;
  return {
    runs,
    columns: {
      run: Uint16Array.from(sorted, ({ run }) => places.get(run) ?? 0),
      startedAt: numbers(({ startedAt }) => startedAt),
      confidence: numbers(({ confidence }) => confidence),
      grounding: numbers(({ grounding }) => grounding),
      checkFailed: Uint8Array.from(sorted, ({ checkFailed }) => Number(checkFailed)),
    },
    alike: [...kinds.values()].map((of) => {
      const begin = end;
      end += of.length;
      return { kind: kindOf(of[0] as EvidenceRow), begin, end };
    }),
    marks: new Map(
      sorted.flatMap(({ stepOutcome, runOutcome }, at) =>
        stepOutcome === null && runOutcome === null ? [] : [[at, { stepOutcome, runOutcome }]],
      ),
    ),
  };
}

const kindOf = ({ stepName, agent, provider, model, promptHash, agentVersion, status, errorType }: Kind): Kind => ({
  stepName,
  agent,
  provider,
  model,
  promptHash,
  agentVersion,
  status,
  errorType,
});
