const MIN_SECRET_CHARS = 8;

/** Replaces configured secrets in a text: a provider may repeat the key it refuses, a tool server its environment. */
export function createConceal(secrets: readonly (string | undefined)[]): (text: string) => string {
  const long = secrets.filter((secret): secret is string => secret !== undefined && secret.length >= MIN_SECRET_CHARS);
  return (text) => long.reduce((shown, secret) => shown.replaceAll(secret, '***'), text);
}
