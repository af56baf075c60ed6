import { candidateName, gradeOf, type ReplaySample } from '../../runs/state/replay.ts';
import { type Execution, grade, type Graded } from './graded.ts';

/** How the chain of one recorded run ended (Orchestration 3). */
export type ChainResult = 'completed' | 'partial' | 'unreplayable' | 'pending';

/** One step of the range: replayed, or answered with what was recorded. */
export interface ChainStep {
  name: string;
  replayed: boolean;
}

export interface GradedChain {
  sample: ReplaySample;
  result: ChainResult;
  /** By step, in their order; null for a step that answered what was recorded. */
  steps: { name: string; graded: Graded | null }[];
}

export interface ChainRows {
  candidates: readonly Execution[];
  recorded: readonly Execution[];
}

/** The chains of a batch, step by step; labels are those of each step alone. */
export function gradeChains(
  samples: readonly ReplaySample[],
  steps: readonly ChainStep[],
  { candidates, recorded }: ChainRows,
): GradedChain[] {
  const byName = new Map(candidates.map((one) => [one.stepName, one]));
  const byRun = new Map(recorded.map((one) => [`${one.runId} ${one.stepName}`, one]));
  return samples.map((sample) => {
    const graded = steps.map(({ name, replayed }) => ({
      name,
      graded: replayed
        ? grade({
            sample,
            recorded: byRun.get(`${sample.sourceRunId} ${name}`) ?? null,
            candidate: byName.get(candidateName(name, sample.position)) ?? null,
          })
        : null,
    }));
    return { sample, result: resultOf(sample, graded), steps: graded };
  });
}

function resultOf({ reason }: ReplaySample, steps: GradedChain['steps']): ChainResult {
  if (reason !== null) return 'unreplayable';
  const replayed = steps.flatMap(({ graded }) => graded ?? []);
  const endsHere = ({ candidate }: Graded): boolean =>
    candidate !== null && (candidate.status === 'cancelled' || gradeOf(candidate) === 'execution_failed');
  if (replayed.some(endsHere)) return 'partial';
  const open = replayed.some(({ candidate }) => candidate === null || candidate.status === 'running');
  return open ? 'pending' : 'completed';
}
