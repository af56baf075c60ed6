import type { Problem, ProblemReason } from '@signalbox/crds';
import { describe } from '../objects/custom-object.ts';
import type { Lost } from './claim-names.ts';

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

const MEANWHILE = {
  served: 'The last accepted definition is served meanwhile.',
  nothing: 'No earlier definition was accepted, so nothing new is served.',
  leftOut: 'The last accepted definition has no room either: its files stay where they are, and no new ones are made.',
};

/** Judges an object from the problems found in it; where it is refused, `meanwhile` says what is served. */
export function judge(
  problems: readonly Problem[],
  accepted: boolean,
  meanwhile: keyof typeof MEANWHILE = 'served',
): Judgement {
  const errors = problems.filter(({ severity }) => severity === 'error');
  if (accepted) return { accepted, reason: 'Accepted', message: withWarnings(problems) };
  const first = errors.find(({ reason }) => reason === 'missing_step') ?? errors[0];
  return {
    accepted,
    reason: reasonOf(first?.reason ?? 'invalid'),
    message: `${listed(errors)}. ${MEANWHILE[meanwhile]}`,
  };
}

export function conflict(name: string, { object, owner }: Lost, home: string | null): Judgement {
  return {
    accepted: false,
    reason: 'NameConflict',
    message: `"${name}" is the definition of ${describe(owner)}, which ${whyFirst({ object, owner }, home)}; rename this object or set another spec.name`,
  };
}

/** Objects that were applied together have the same age: the API server counts in seconds. */
function whyFirst({ object, owner }: Lost, home: string | null): string {
  if (owner.namespace === home && object.namespace !== home) return 'is of the release’s namespace';
  return object.createdAt === owner.createdAt ? 'has the same age and comes first by name' : 'is older';
}

/** What only warns never refuses an object, so it has no reason of its own. */
type Refusing = Exclude<
  ProblemReason,
  'unknown_agent' | 'shell_not_allowed' | 'env_not_allowed' | 'no_effect' | 'unknown_name'
>;

const REASONS: Readonly<Record<Refusing, string>> = {
  invalid: 'Invalid',
  syntax: 'Invalid',
  too_large: 'TooLarge',
  missing_step: 'MissingStep',
  missing_pipeline: 'MissingPipeline',
  unknown_provider: 'UnknownProvider',
  unknown_server: 'UnknownServer',
  name_conflict: 'NameConflict',
  cycle: 'Cycle',
  too_deep: 'TooDeep',
  not_allowed: 'NotAllowed',
};

const reasonOf = (reason: ProblemReason): string =>
  Object.entries(REASONS).find(([known]) => known === reason)?.[1] ?? REASONS.invalid;

/** The message of an object without any warning. */
export const VALID = 'the spec is valid';

function withWarnings(problems: readonly Problem[]): string {
  return problems.length === 0 ? VALID : `${VALID}; ${listed(problems)}`;
}

/** `spec.steps.0.use: library step "x" does not exist; …`, a few of them. */
function listed(problems: readonly Problem[]): string {
  const lines = problems
    .slice(0, SHOWN)
    .map(({ loc, msg }) => `${['spec', ...loc].join('.')}: ${msg}`.slice(0, MAX_PROBLEM_CHARS));
  const more = problems.length > SHOWN ? [`and ${problems.length - SHOWN} more`] : [];
  return [...lines, ...more].join('; ');
}
