import { type BranchStep, isFanOut, isParallel, type ItemStep, type Join, type Step } from '@signalbox/crds';
import { paths } from '../paths.ts';
import { plural } from '../runs/row.ts';

type AnyStep = Step | BranchStep | ItemStep;

/** `3 steps, 1 group, 1 fan-out, 1 sub-pipeline`: what kinds of entries a pipeline has. */
export function shapesLine(entries: readonly Step[]): string {
  const ofExecutor = (executor: string) => (entry: Step) => 'executor' in entry && entry.executor === executor;
  const kinds = [
    ['group', isParallel],
    ['fan-out', isFanOut],
    ['sub-pipeline', ofExecutor('pipeline')],
    ['approval', ofExecutor('human')],
  ] as const;
  const counted = kinds.map(([word, is]) => [entries.filter(is).length, word] as const).filter(([n]) => n > 0);
  return [plural(entries.length, 'step'), ...counted.map(([n, word]) => plural(n, word))].join(' · ');
}

const branchCount = (n: number): string => `${n} ${n === 1 ? 'branch' : 'branches'}`;

/** What one step has beside its gate. */
const EXTRAS = {
  verifier: 'verifier',
  grounding: 'grounding',
  calibration: 'calibration',
  loop_until: 'loop',
  retry: 'retry',
};

function extrasOf(entry: AnyStep): string[] {
  const keys = entry as Partial<Record<string, unknown>>;
  const own = Object.entries(EXTRAS).flatMap(([key, word]) => (keys[key] === undefined ? [] : [word]));
  const checks = 'deterministic_checks' in entry ? (entry.deterministic_checks?.length ?? 0) : 0;
  return checks === 0 ? own : [...own, plural(checks, 'check')];
}

const joinWords = (join: Join): string => join.replaceAll('_', ' ');

/** The executor, and the agent, pipeline or address that it asks. */
export function executorLine(entry: Exclude<AnyStep, { parallel: unknown } | { fan_out: unknown }>): string {
  const asked = 'agent' in entry ? entry.agent : 'pipeline' in entry ? entry.pipeline : 'url' in entry ? entry.url : '';
  return asked === '' ? entry.executor : `${entry.executor} · ${asked}`;
}

function shapeOf(entry: Step): string {
  if (isParallel(entry))
    return `parallel · ${branchCount(entry.parallel.steps.length)} · ${joinWords(entry.parallel.join)}`;
  if (isFanOut(entry)) return `fan-out over ${entry.fan_out.over} · ${joinWords(entry.fan_out.join)}`;
  return executorLine(entry);
}

/** The branches under a group, and the step that a fan-out runs for each item. */
function branchLines(entry: Step, most: number) {
  if (isFanOut(entry)) {
    const { step, as } = entry.fan_out;
    return [{ href: null, name: `each ${as}`, shape: executorLine(step), extras: extrasOf(step), weight: '' }];
  }
  if (!isParallel(entry)) return [];
  return entry.parallel.steps.slice(0, most).map((branch) => ({
    href: paths.step(branch.name),
    name: branch.name,
    shape: executorLine(branch),
    extras: extrasOf(branch),
    weight: branch.weight === 1 ? '' : `× ${branch.weight}`,
  }));
}

const MOST_BRANCHES = 100;

/** The entries of a pipeline in its list of steps; of a crowd of branches each group shows some. */
export function stepLines(entries: readonly Step[]) {
  const groups = entries.filter(isParallel);
  const all = groups.reduce((sum, { parallel }) => sum + parallel.steps.length, 0);
  const share = Math.floor(MOST_BRANCHES / groups.length);
  // One branch of each would say less than the line of its group, which counts them.
  const most = all <= MOST_BRANCHES ? all : share < 2 ? 0 : share;
  return entries.map((entry, at) => stepLine(entry, at, most));
}

const moreBranches = (entry: Step, most: number): number =>
  most > 0 && isParallel(entry) ? Math.max(0, entry.parallel.steps.length - most) : 0;

const stepLine = (entry: Step, number: number, most: number) => ({
  number: number + 1,
  branches: branchLines(entry, most),
  moreBranches: moreBranches(entry, most),
  extras: extrasOf(entry),
  name: entry.name,
  href: paths.step(entry.name),
  shape: shapeOf(entry),
  threshold: 'confidence_threshold' in entry ? entry.confidence_threshold.toFixed(2) : '',
  when: entry.when ?? '',
});
