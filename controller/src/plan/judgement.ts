import type { Problem, ProblemReason } from '@signalbox/crds';
import { type CustomObject, describe } from '../objects/custom-object.ts';

/** The condition Accepted without its time. */
export interface Judgement {
  accepted: boolean;
  /** One word for programs. */
  reason: string;
  /** For people: what to do, or what is served meanwhile. */
  message: string;
}

const SHOWN = 5;
const MAX_PROBLEM_CHARS = 400;

/** Judges an object from the problems found in it. */
export function judge(problems: readonly Problem[], accepted: boolean, served: boolean): Judgement {
  const errors = problems.filter(({ severity }) => severity === 'error');
  if (accepted) return { accepted, reason: 'Accepted', message: withWarnings(problems) };
  const meanwhile = served
    ? 'The last accepted definition is served meanwhile.'
    : 'No earlier definition was accepted, so nothing new is served.';
  const first = errors.find(({ reason }) => reason === 'missing_step') ?? errors[0];
  return { accepted, reason: REASONS[first?.reason ?? 'invalid'], message: `${listed(errors)}. ${meanwhile}` };
}

/** Objects that were applied together have the same age: the API server counts in seconds. */
export function conflict(name: string, object: CustomObject, owner: CustomObject): Judgement {
  const why = object.createdAt === owner.createdAt ? 'has the same age and comes first by name' : 'is older';
  return {
    accepted: false,
    reason: 'NameConflict',
    message: `"${name}" is the definition of ${describe(owner)}, which ${why}; rename this object or set another spec.name`,
  };
}

const REASONS: Readonly<Record<ProblemReason, string>> = {
  invalid: 'Invalid',
  syntax: 'Invalid',
  too_large: 'TooLarge',
  missing_step: 'MissingStep',
  missing_pipeline: 'MissingPipeline',
  unknown_agent: 'UnknownAgent',
  unknown_provider: 'UnknownProvider',
  unknown_server: 'UnknownServer',
  name_conflict: 'NameConflict',
  cycle: 'Cycle',
  too_deep: 'TooDeep',
  shell_not_allowed: 'ShellNotAllowed',
  env_not_allowed: 'EnvNotAllowed',
  not_allowed: 'NotAllowed',
  no_effect: 'NoEffect',
  unknown_name: 'UnknownName',
};

function withWarnings(problems: readonly Problem[]): string {
  return problems.length === 0 ? 'the spec is valid' : `the spec is valid; ${listed(problems)}`;
}

/** `spec.steps.0.use: library step "x" does not exist; …`, a few of them. */
function listed(problems: readonly Problem[]): string {
  const lines = problems
    .slice(0, SHOWN)
    .map(({ loc, msg }) => `${['spec', ...loc].join('.')}: ${msg}`.slice(0, MAX_PROBLEM_CHARS));
  const more = problems.length > SHOWN ? [`and ${problems.length - SHOWN} more`] : [];
  return [...lines, ...more].join('; ');
}
