import type { z } from 'zod';
import { closestName } from '../references/closest-name.ts';
import { issueWords } from './issue-words.ts';
import { meantKey } from './meant-key.ts';
import type { Finding, Loc } from '../problem.ts';

type Issue = z.core.$ZodIssue;

/** Zod's issues as findings: one for each unknown key, the matching branch of a union, readable messages. */
export function findingsOf(error: z.ZodError, input: unknown, schema: z.ZodType): Finding[] {
  return flatten(error.issues, [], { input, schema });
}

/** What was parsed, and with what. */
interface Parsed {
  input: unknown;
  schema: z.ZodType;
}

function flatten(issues: readonly Issue[], base: Loc, parsed: Parsed): Finding[] {
  const { input } = parsed;
  return issues.flatMap((issue) => {
    const loc: Loc = [...base, ...issue.path.map((part) => (typeof part === 'symbol' ? String(part) : part))];
    if (issue.code === 'unrecognized_keys')
      return issue.keys.map((key) => ({
        loc: [...loc, key],
        msg: `unknown key "${key}"${meantKey(key, parsed.schema)}`,
      }));
    if (issue.code === 'invalid_union') return fromUnion(issue, loc, parsed);
    if (issue.code === 'invalid_key' || issue.code === 'invalid_element') return flatten(issue.issues, loc, parsed);
    return [{ loc, msg: describe(issue, valueAt(input, loc)) }];
  });
}

function describe(issue: Issue, value: unknown): string {
  if (value === undefined && issue.code !== 'custom') return 'is required';
  return issueWords(issue);
}

const ONE_SHAPE = 'needs exactly one of use, executor, parallel or fan_out';

/** The key of a step that was probably meant to be its shape. */
function misspelt(step: unknown): string {
  const [found] = Object.keys(isObject(step) ? step : {}).flatMap((key) => {
    const meant = closestName(key, ['use', ...SHAPES]);
    return meant === null ? [] : [`; "${key}" is unknown, did you mean "${meant}"?`];
  });
  return found ?? '';
}

const EXECUTORS = 'gateway, external, human, webhook or pipeline';

function fromUnion(issue: Extract<Issue, { code: 'invalid_union' }>, loc: Loc, parsed: Parsed): Finding[] {
  const { input } = parsed;
  const key = 'discriminator' in issue ? String(issue.discriminator) : null;
  if (key !== null) {
    const at = loc.at(-1) === key ? loc : [...loc, key];
    const given = valueAt(input, at);
    if (key === 'executor' && given === undefined)
      return [{ loc: at.slice(0, -1), msg: `${ONE_SHAPE}${misspelt(valueAt(input, at.slice(0, -1)))}` }];
    return [
      {
        loc: at,
        msg:
          given === undefined
            ? 'is required'
            : `expected ${key === 'executor' ? EXECUTORS : 'another value'}, not ${JSON.stringify(given)}`,
      },
    ];
  }
  const branch = fittingBranch(issue.errors, valueAt(input, loc));
  return branch ? flatten(branch, loc, parsed) : [{ loc, msg: describe(issue, valueAt(input, loc)) }];
}

/** The branch of a union that the author meant: the shape whose key is there, else the only one that accepts the value's type. */
function fittingBranch(branches: readonly (readonly Issue[])[], value: unknown): readonly Issue[] | undefined {
  if (isObject(value) && branches.length === SHAPES.length) {
    const shape = SHAPES.findIndex((key) => key !== 'executor' && Object.hasOwn(value, key));
    return branches[Math.max(shape, 0)];
  }
  const wrongKind = (codes: readonly string[]) => (issues: readonly Issue[]) =>
    issues.some((issue) => issue.path.length === 0 && codes.includes(issue.code));
  const fitting = branches.filter((issues) => !wrongKind(['invalid_type', 'invalid_value'])(issues));
  return fitting.length === 1 ? fitting[0] : branches.find(wrongKind(['invalid_value']));
}

/** In the order of the union `Step`. */
const SHAPES = ['executor', 'parallel', 'fan_out'] as const;

export function valueAt(input: unknown, loc: Loc): unknown {
  let value = input;
  for (const part of loc) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, part)) return undefined;
    value = (value as Record<string | number, unknown>)[part];
  }
  return value;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
