const REFERENCE = /\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g;

/** Replaces `${NAME}` in every string of a parsed file; an unset name becomes empty. Keys stay as written. */
export function expandEnvironment(value: unknown, env: Readonly<Record<string, string | undefined>>): unknown {
  if (typeof value === 'string') return value.replace(REFERENCE, (_, name: string) => env[name] ?? '');
  if (Array.isArray(value)) return value.map((item) => expandEnvironment(item, env));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, expandEnvironment(item, env)]));
}

/** The first `${NAME}` in the `env` of an image server. It is refused: a secret of such a server belongs into the agent's namespace. */
export function imageEnvironmentReferences(raw: unknown): string[] {
  const servers = entriesOf(entriesOf(raw).find(([key]) => key === 'mcp_servers')?.[1]);
  return servers.flatMap(([name, entry]) => {
    const fields = Object.fromEntries(entriesOf(entry));
    if (!('image' in fields)) return [];
    return entriesOf(fields['env'])
      .filter(([, value]) => typeof value === 'string' && new RegExp(REFERENCE.source).test(value))
      .map(([key]) => `mcp_servers.${name}.env.${key}`);
  });
}

function entriesOf(value: unknown): [string, unknown][] {
  return typeof value === 'object' && value !== null ? Object.entries(value) : [];
}
