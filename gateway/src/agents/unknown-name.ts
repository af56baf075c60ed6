const MAX_LISTED = 10;

/** Why a model string has no provider, with the names of those that exist. */
export function unknownProvider(model: string, providers: readonly string[]): string {
  const problem = `"${model}" maps to no configured provider`;
  if (model.includes('/')) return `${problem}; ${available(providers)}`;
  const written = providers.slice(0, MAX_LISTED).map((name) => `${name}/${model}`);
  return `${problem}: none is the default, write ${written.join(' or ')}`;
}

export function unknownServer(name: string, servers: readonly string[]): string {
  return `"${name}" is not a configured tool server; ${available(servers)}`;
}

/** Bounded: the message repeats at most 100 characters of the name. */
export function unknownAgent(name: string, agents: readonly string[]): string {
  return `there is no agent "${name.slice(0, 100)}"; ${available(agents)}`;
}

function available(names: readonly string[]): string {
  if (names.length === 0) return 'none is configured';
  const more = names.length > MAX_LISTED ? ` and ${names.length - MAX_LISTED} more` : '';
  return `available: ${names.slice(0, MAX_LISTED).join(', ')}${more}`;
}
