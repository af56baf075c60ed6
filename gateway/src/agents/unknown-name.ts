const MAX_LISTED = 20;

/** Why a model string leads nowhere, and where one could. */
export function unknownProvider(model: string, providers: readonly string[]): string {
  const problem = `"${model}" maps to no configured provider`;
  if (model.includes('/')) return `${problem}; ${thereAre(providers)}`;
  const written = providers.slice(0, MAX_LISTED).map((name) => `${name}/${model}`);
  return `${problem}: none is the default, write ${written.join(' or ')}`;
}

export function unknownServer(name: string, servers: readonly string[]): string {
  return `"${name}" is no configured tool server; ${thereAre(servers)}`;
}

function thereAre(names: readonly string[]): string {
  if (names.length === 0) return 'there are none';
  const more = names.length > MAX_LISTED ? ` and ${names.length - MAX_LISTED} more` : '';
  return `there are: ${names.slice(0, MAX_LISTED).join(', ')}${more}`;
}
