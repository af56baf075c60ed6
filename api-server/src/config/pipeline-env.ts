/** Masking shorter values would make log lines unreadable. */
const MIN_MASKED = 4;

/** Values for `${NAME}` in a pipeline's `url`, `headers` and `payload`: only names listed in `security.pipeline_env`. */
export function createPipelineEnv(names: readonly string[], env: Readonly<Record<string, string | undefined>>) {
  const values = new Map(names.map((name) => [name, env[name] ?? '']));
  const secrets = [...values.values()]
    .filter((value) => value.length >= MIN_MASKED)
    .sort((a, b) => b.length - a.length);
  return {
    valueOf: (name: string): string | undefined => values.get(name),
    mask: (text: string): string =>
      text.length < MIN_MASKED ? text : secrets.reduce((masked, secret) => masked.replaceAll(secret, '***'), text),
  };
}
