import { expressionPaths } from '../language/expression.ts';
import { templatePaths } from '../language/template.ts';
import type { WrittenPath } from '../language/written-path.ts';
import { templateName } from '../names.ts';
import type { Finding } from '../problem.ts';
import { checkPlaces, type LanguageOptions } from './language.ts';
import type { Place } from './places.ts';
import { closestName, didYouMean } from './closest-name.ts';
import type { KnownStep, PlaceSight, Sight } from './sight.ts';

/** Compiles the texts of a definition, and checks the names in them. */
export const checkTexts = (places: readonly Place[], sight: Sight, options: LanguageOptions): Finding[] => [
  ...checkPlaces(places, options),
  ...checkReferences(places, sight),
];

/**
 * Warns of names in templates and expressions that can have no value, so that no prompt goes out with a hole that the author
 * did not see: a root that resembles another, a step that is not there or has no result yet, a variable that is not declared, an
 * output key that the step's schema does not have.
 */
function checkReferences(places: readonly Place[], sight: Sight): Finding[] {
  const findings: Finding[] = [];
  for (const place of places) {
    const { loc } = place;
    const said = new Set<string>();
    for (const msg of problemsOf(pathsOf(place), sight.at(loc), sight)) {
      if (said.has(msg)) continue;
      if (findings.length === MOST_PROBLEMS - 1) return findings.concat(unknownName(loc, MORE_NAMES));
      said.add(msg);
      findings.push(unknownName(loc, msg));
    }
  }
  return findings;
}

/** Errors of one definition that are listed, and warnings. */
export const MOST_PROBLEMS = 20;

/** To look for the name that was meant takes a while, so it ends with what is listed. */
const MORE_NAMES = 'there are more unknown names, here or further down';

const unknownName = (loc: Finding['loc'], msg: string): Finding => ({
  severity: 'warning',
  loc,
  msg,
  reason: 'unknown_name',
});

/** One path at a time, so that no more is compared than is listed. */
function* problemsOf(paths: readonly WrittenPath[], at: PlaceSight, sight: Sight): Generator<string> {
  for (const path of paths) {
    const problem = problemOf(path, at, sight);
    if (problem !== null) yield problem;
  }
}

function pathsOf({ language, value }: Place): WrittenPath[] {
  if (language === 'cel') return expressionPaths(String(value));
  return language === 'template' || language === 'template_env' ? templatePaths(String(value)) : [];
}

function problemOf({ parts, guarded }: WrittenPath, at: PlaceSight, sight: Sight): string | null {
  const [root = '', ...rest] = parts;
  const said = parts.join('.');
  switch (root) {
    case 'steps':
      return stepProblem(said, rest, { at, steps: sight.steps, guarded });
    case 'vars':
      return variableProblem(said, rest[0], sight.vars);
    case 'output':
      return keyProblem(said, rest[0], guarded || !at.names.has(root) ? null : at.outputKeys);
    default:
      return rootProblem(root, at);
  }
}

/** Any other name may be metadata of an alert, so only one that resembles a known name is suspected. */
function rootProblem(root: string, { names }: PlaceSight): string | null {
  if (names.has(root)) return null;
  const meant = closestName(
    root,
    [...names].filter((name) => name.length > 3),
  );
  return meant === null ? null : `"${root}" is no known name; did you mean "${meant}"?`;
}

function variableProblem(said: string, key: string | undefined, vars: readonly string[] | null): string | null {
  if (key === undefined || vars === null || vars.includes(key)) return null;
  return `${said}: vars does not declare "${key}"${didYouMean(key, vars)}`;
}

function keyProblem(said: string, key: string | undefined, keys: readonly string[] | null): string | null {
  if (key === undefined || keys === null || keys.includes(key)) return null;
  return `${said}: the output_schema has no "${key}"${didYouMean(key, keys)}`;
}

const RESULT_KEYS = ['status', 'summary', 'confidence', 'trust', 'output', 'next_step_context'];

interface StepRead {
  at: PlaceSight;
  steps: readonly KnownStep[] | null;
  guarded: boolean;
}

function stepProblem(said: string, [name, key, ...rest]: readonly string[], read: StepRead): string | null {
  const { at, steps, guarded } = read;
  if (name === undefined || steps === null) return null;
  const step = steps.find((one) => isNamed(one, name));
  if (!step)
    return `${said}: there is no step "${name}"${didYouMean(
      name,
      steps.map((one) => one.name),
    )}`;
  const untimely = untimelyRead(step, at);
  if (untimely !== null) return `${said}: ${untimely}`;
  if (key === undefined || guarded) return null;
  if (!RESULT_KEYS.includes(key)) return `${said}: a step has no "${key}"${didYouMean(key, RESULT_KEYS)}`;
  if (key !== 'output') return null;
  return isGroup(step, name) ? groupProblem(said, rest) : keyProblem(said, rest[0], step.outputKeys);
}

/** A branch of a fan-out is no group. */
const isGroup = ({ group }: KnownStep, name: string): boolean => group !== null && !name.includes('/');

const BRANCH_KEYS = ['name', 'status', 'summary', 'trust', 'output'];

/** The output of a group is a list of its branches. */
function groupProblem(said: string, [list, at, key]: readonly string[]): string | null {
  if (list === undefined) return null;
  if (list !== 'branches') return `${said}: the output of a group has no "${list}", only "branches"`;
  if (at === undefined) return null;
  if (BRANCH_KEYS.includes(at)) return `${said}: "branches" is a list, each of its items has "${at}"`;
  if (key === undefined || BRANCH_KEYS.includes(key)) return null;
  return `${said}: a branch has no "${key}"${didYouMean(key, BRANCH_KEYS)}`;
}

/** A branch of a fan-out is `NAME/INDEX`. */
const isNamed = (step: KnownStep, name: string): boolean =>
  [step.name, templateName(step.name)].includes(step.group === 'fan_out' ? (name.split('/')[0] ?? '') : name);

function untimelyRead(step: KnownStep, { entry, own, isOver }: PlaceSight): string | null {
  if (step.entry < entry || (step.entry === entry && isOver)) return null;
  if (step.entry > entry) return entry < 0 ? 'no step has a result here' : `step "${step.name}" runs later`;
  return step.name === own ? 'a step cannot read its own result' : `step "${step.name}" has no result yet`;
}
