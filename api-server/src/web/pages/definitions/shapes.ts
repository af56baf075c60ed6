import { paths } from '../paths.ts';
import { plural } from '../runs/row.ts';
import { type Config, list, object, text } from './config.ts';

/** `3 steps, 1 group, 1 fan-out, 1 sub-pipeline`: what kinds of entries a pipeline has. */
export function shapesLine(entries: Config[]): string {
  const kinds = [
    ['group', (entry: Config) => entry['parallel'] !== undefined],
    ['fan-out', (entry: Config) => entry['fan_out'] !== undefined],
    ['sub-pipeline', (entry: Config) => entry['executor'] === 'pipeline'],
    ['approval', (entry: Config) => entry['executor'] === 'human'],
  ] as const;
  const counted = kinds.map(([word, is]) => [entries.filter(is).length, word] as const).filter(([n]) => n > 0);
  return [plural(entries.length, 'step'), ...counted.map(([n, word]) => plural(n, word))].join(' · ');
}

const branchCount = (n: number): string => `${n} ${n === 1 ? 'branch' : 'branches'}`;

/** What one step has beside its gate. */
const EXTRAS: [key: string, word: string][] = [
  ['verifier', 'verifier'],
  ['grounding', 'grounding'],
  ['calibration', 'calibration'],
  ['loop_until', 'loop'],
  ['retry', 'retry'],
];

function extrasOf(entry: Config): string[] {
  const checks = list(entry['deterministic_checks']).length;
  const own = EXTRAS.filter(([key]) => entry[key] !== undefined).map(([, word]) => word);
  return checks === 0 ? own : [...own, plural(checks, 'check')];
}

function partsOf(entry: Config): string[] {
  const { parallel, fan_out: fanOut } = entry;
  if (parallel !== undefined)
    return ['parallel', branchCount(list(object(parallel)['steps']).length), joinOf(parallel)];
  if (fanOut !== undefined) return [`fan-out over ${text(object(fanOut)['over'])}`, joinOf(fanOut)];
  return [text(entry['executor']), text(entry['agent'] ?? entry['pipeline'] ?? entry['url'])];
}

const shapeOf = (entry: Config): string =>
  partsOf(entry)
    .filter((part) => part !== '')
    .join(' · ');

const joinOf = (group: unknown): string => text(object(group)['join']).replaceAll('_', ' ');

/** The branches under a group, and the step that a fan-out runs for each item. */
function branchLines(entry: Config) {
  const fanned = object(entry['fan_out']);
  const each = object(fanned['step']);
  const branches = Object.keys(each).length > 0 ? [each] : list(object(entry['parallel'])['steps']);
  return branches.map((branch) => ({
    href: text(branch['name']) ? paths.step(text(branch['name'])) : null,
    name: text(branch['name']) || `each ${text(fanned['as'])}`,
    shape: shapeOf(branch),
    extras: extrasOf(branch),
    weight: typeof branch['weight'] === 'number' && branch['weight'] !== 1 ? `× ${branch['weight']}` : '',
  }));
}

/** One entry of a pipeline in its list of steps. */
export const stepLine = (entry: Config, number: number) => ({
  number: number + 1,
  branches: branchLines(entry),
  extras: extrasOf(entry),
  name: text(entry['name']),
  href: paths.step(text(entry['name'])),
  shape: shapeOf(entry),
  threshold: typeof entry['confidence_threshold'] === 'number' ? entry['confidence_threshold'].toFixed(2) : '',
  when: text(entry['when']),
});
