const PLACEHOLDER = /\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g;

export type Environment = Readonly<Record<string, string | undefined>>;

/** Names of environment variables that a value uses and that are not set. */
export const unsetNames = (written: unknown, env: Environment): string[] =>
  typeof written === 'string'
    ? [...written.matchAll(PLACEHOLDER)].flatMap(([, name = '']) => (env[name] === undefined ? [name] : []))
    : [];

/**
 * Replaces `${NAME}` in every string of a parsed file; the placeholder of an unset variable becomes an empty string
 * (Orchestration 2.13). It runs after parsing, so a value can never add YAML. Keys are not changed.
 */
export function expandEnv(value: unknown, env: Environment): unknown {
  if (typeof value === 'string') return value.replace(PLACEHOLDER, (_, name: string) => env[name] ?? '');
  if (Array.isArray(value)) return value.map((entry) => expandEnv(entry, env));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, expandEnv(entry, env)]));
}
