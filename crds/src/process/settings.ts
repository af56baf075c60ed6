import type { z } from 'zod';
import { type PlainIssue, plainIssues } from '../resolve/issue-words.ts';
import { parseYaml } from '../resolve/yaml.ts';

const PLACEHOLDER = /\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g;

export type Environment = Readonly<Record<string, string | undefined>>;

/** `raw` is the file as written; `message` is one line that names the keys. */
export type Settings<T> = { ok: true; settings: T; raw: unknown } | { ok: false; message: string };

/** Reads the text of a configuration file: YAML, `${NAME}` from the environment, the schema with its defaults. */
export function readSettings<T>(text: string, schema: z.ZodType<T>, env: Environment): Settings<T> {
  const yaml = parseYaml(text);
  if (!yaml.ok) {
    const [first = { line: 1, col: 1, msg: 'is not valid YAML' }] = yaml.problems;
    return { ok: false, message: `line ${first.line}, column ${first.col}: ${first.msg}` };
  }
  const raw = yaml.value ?? {};
  const parsed = schema.safeParse(expandEnv(raw, env));
  if (parsed.success) return { ok: true, settings: parsed.data, raw };
  return { ok: false, message: describe(plainIssues(parsed.error.issues, schema), raw, env) };
}

/**
 * Replaces `${NAME}` in every string of a parsed file; the placeholder of an unset variable becomes an empty string. It runs
 * after parsing, so a value can never add YAML. Keys are not changed.
 */
export function expandEnv(value: unknown, env: Environment): unknown {
  if (typeof value === 'string') return value.replace(PLACEHOLDER, (_, name: string) => env[name] ?? '');
  if (Array.isArray(value)) return value.map((entry) => expandEnv(entry, env));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, expandEnv(entry, env)]));
}

/** Names of environment variables that a value uses. */
export const namesIn = (written: unknown): string[] =>
  typeof written === 'string' ? [...written.matchAll(PLACEHOLDER)].map(([, name = '']) => name) : [];

/** More problems would make the line too long to read. */
const MAX_PROBLEMS = 5;

function describe(issues: readonly PlainIssue[], raw: unknown, env: Environment): string {
  const problems = issues.slice(0, MAX_PROBLEMS).map(({ path, msg, unknownKey }) => {
    const unset = unknownKey ? [] : namesIn(valueAt(raw, path)).filter((name) => env[name] === undefined);
    const names = unset.map((name) => `\${${name}}`).join(', ');
    return `${place(path)}: ${msg}${names === '' ? '' : `, and ${names} is not set in the environment`}`;
  });
  const more = issues.length - MAX_PROBLEMS;
  return problems.join('; ') + (more > 0 ? `; and ${more} more` : '');
}

const place = (path: readonly PropertyKey[]): string =>
  path.reduce<string>(
    (text, part) => (typeof part === 'number' ? `${text}[${part}]` : `${text}${text && '.'}${String(part)}`),
    '',
  ) || 'the file';

const valueAt = (value: unknown, path: readonly PropertyKey[]): unknown =>
  path.reduce<unknown>(
    (found, key) =>
      typeof found === 'object' && found !== null ? (found as Record<PropertyKey, unknown>)[key] : found,
    value,
  );
