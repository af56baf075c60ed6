import { addSeen, type ByCombo, emptyTally, mergeTally, type Seen, type StepEvidence, type Tally } from './evidence.ts';
import type { Combo } from './executions.ts';
import type { ReadinessStep } from './steps.ts';

/** Which edition of a step counts now, and how that is known (Orchestration 9). */
export interface CurrentConfig {
  promptHash: string | null;
  /** `definition`, or null for steps without a prompt. */
  promptHashSource: 'definition' | null;
  agentVersion: string | null;
  /** Who said so: the backend, or the newest execution where the backend does not. */
  agentVersionSource: 'gateway' | 'external' | 'history' | null;
  /** Whether the newest execution had this prompt; null without one. */
  promptHashMatchesHistory: boolean | null;
}

/** The version of an agent as its backend says it; null where it says none. */
export type VersionOf = (executor: string, agent: string) => string | null;

export function currentConfig(step: ReadinessStep, evidence: StepEvidence, versionOf: VersionOf): CurrentConfig {
  if (step.agent === null) return NO_AGENT;
  const said = versionOf(step.executor, step.agent);
  const { newest, newestVersion } = evidence;
  const known = said ?? newestVersion?.agentVersion ?? null;
  return {
    promptHash: step.promptHash,
    promptHashSource: 'definition',
    agentVersion: known,
    agentVersionSource: said === null ? (known === null ? null : 'history') : backendOf(step),
    promptHashMatchesHistory: newest && newest.promptHash === step.promptHash,
  };
}

const backendOf = ({ executor }: ReadinessStep) => (executor === 'external' ? 'external' : 'gateway');

const NO_AGENT: CurrentConfig = {
  promptHash: null,
  promptHashSource: null,
  agentVersion: null,
  agentVersionSource: null,
  promptHashMatchesHistory: null,
};

export interface Scoped {
  /** The evidence of the edition that counts. */
  current: Tally;
  /** Models that answered in it. */
  models: number;
  /** Executions of other editions. */
  older: number;
}

/** The evidence of the present prompt and agent version; failures must not vanish from it. */
export function inScope(step: ReadinessStep, evidence: StepEvidence, config: CurrentConfig): Scoped {
  const { own = [], others = [] } = Object.groupBy(evidence.combos.values(), ({ combo }) =>
    isCurrent(step, combo, config) ? 'own' : 'others',
  );
  const current = emptyTally();
  for (const { tally } of own) mergeTally(current, tally);
  const isOwn = evidence.unversioned.length === 0 ? () => false : attribution(own, others);
  let older = others.reduce((sum, { tally }) => sum + tally.rows, 0);
  for (const seen of evidence.unversioned.flatMap(oneByOne)) {
    const { promptHash } = seen.kind;
    if ((promptHash === null || promptHash === step.promptHash) && isOwn(startOf(seen))) addSeen(current, step, seen);
    else older += 1;
  }
  return { current, models: new Set(own.map(({ combo }) => `${combo.provider}/${combo.model}`)).size, older };
}

const oneByOne = (seen: Seen): Seen[] =>
  Array.from({ length: seen.end - seen.begin }, (_, at) => ({
    ...seen,
    begin: seen.begin + at,
    end: seen.begin + at + 1,
  }));
const startOf = ({ columns, begin }: Seen): number => columns.startedAt[begin] ?? 0;

/**
 * Whether a call that failed before its agent said its version is one of the present version: the next execution that has a
 * version decides, and where there is none, what is in force now.
 */
function attribution(own: readonly ByCombo[], others: readonly ByCombo[]): (at: number) => boolean {
  const [mine, theirs] = [own, others].map((combos) =>
    Float64Array.from(
      combos.flatMap(({ tally }) =>
        tally.seen.flatMap(({ columns, begin, end }) => [...columns.startedAt.subarray(begin, end)]),
      ),
    ).sort(),
  );
  return (at) => firstFrom(mine, at) <= firstFrom(theirs, at);
}

/** The first of the sorted numbers that is not before `at`; Infinity where all are. */
function firstFrom(sorted: Float64Array = new Float64Array(), at: number): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] ?? Infinity) < at) low = middle + 1;
    else high = middle;
  }
  return sorted[low] ?? Infinity;
}

export const isCurrent = (step: ReadinessStep, combo: Combo, config: CurrentConfig): boolean =>
  step.agent === null || (combo.promptHash === config.promptHash && combo.agentVersion === config.agentVersion);
