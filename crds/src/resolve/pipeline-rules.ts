import { compileMatch } from '../language/match.ts';
import type { Pipeline } from '../kinds/pipeline.ts';
import type { Finding, Loc } from '../problem.ts';

/** Rules of `trigger.match` that never match or are invalid patterns (Orchestration 4.1). */
export function matchFindings(pipeline: Pipeline): Finding[] {
  const match = pipeline.trigger?.match;
  if (!match) return [];
  return compileMatch(match).problems.map(({ key, severity, msg }) => ({
    severity,
    loc: ['trigger', 'match', key],
    msg,
  }));
}

/** Keys that the schema allows but that have no effect at their place, read from the author's text. */
export function meaninglessKeys(written: Readonly<Record<string, unknown>>): Finding[] {
  return list(written['steps']).flatMap((entry, index) => inEntry(map(entry), ['steps', index]));
}

function inEntry(entry: Readonly<Record<string, unknown>>, loc: Loc): Finding[] {
  const group = map(entry['parallel']);
  const branches = list(group['steps']).flatMap((branch, index) =>
    inBranch(map(branch), group['join'], [...loc, 'parallel', 'steps', index]),
  );
  const item = map(map(entry['fan_out'])['step']);
  return [...branches, ...gateOf(item, [...loc, 'fan_out', 'step'])];
}

function inBranch(branch: Readonly<Record<string, unknown>>, join: unknown, loc: Loc): Finding[] {
  const idle = branch['weight'] !== undefined && join !== 'weighted_average';
  return [
    ...(idle ? [noEffect([...loc, 'weight'], 'counts only with join: weighted_average')] : []),
    ...gateOf(branch, loc),
  ];
}

/** The group has the gate: a branch only contributes its confidence. */
function gateOf(branch: Readonly<Record<string, unknown>>, loc: Loc): Finding[] {
  return branch['on_low_confidence'] === undefined
    ? []
    : [noEffect([...loc, 'on_low_confidence'], 'has no effect in a branch; set it on the group')];
}

function noEffect(loc: Loc, msg: string): Finding {
  return { severity: 'warning', loc, msg, reason: 'no_effect' };
}

function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

function map(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
}
