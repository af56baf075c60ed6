type Environment = Readonly<Record<string, string | undefined>>;

/** A provider that can be asked with what the environment holds. */
export interface LiveProvider {
  name: string;
  model: string;
  /** As under `providers` of the gateway's configuration; keys stay variables, so that no file holds one. */
  config: Record<string, unknown>;
}

interface Known {
  name: string;
  type: string;
  /** Without it the provider is left out. */
  needs: string;
  keyVariable?: string;
  baseUrlVariable?: string;
  modelVariable: string;
  model: string | null;
}

/** Cheap models, each replaceable; null where only its owner knows a name. */
const KNOWN: readonly Known[] = [
  keyed('anthropic', 'ANTHROPIC_API_KEY', 'claude-haiku-4-5'),
  keyed('openai', 'OPENAI_API_KEY', 'gpt-5-mini'),
  { ...keyed('azure', 'AZURE_OPENAI_API_KEY', null), baseUrlVariable: 'AZURE_OPENAI_BASE_URL' },
  keyed('google', 'GEMINI_API_KEY', 'gemini-2.5-flash'),
  keyed('openrouter', 'OPENROUTER_API_KEY', 'openai/gpt-5-mini'),
  { ...local('ollama', 'OLLAMA_BASE_URL'), model: 'llama3.2' },
  { ...local('openai_compatible', 'OPENAI_COMPATIBLE_BASE_URL'), keyVariable: 'OPENAI_COMPATIBLE_API_KEY' },
];

function keyed(type: string, keyVariable: string, model: string | null): Known {
  return { name: type, type, needs: keyVariable, keyVariable, modelVariable: modelVariableOf(type), model };
}

function local(type: string, baseUrlVariable: string): Known {
  return {
    name: type,
    type,
    needs: baseUrlVariable,
    baseUrlVariable,
    modelVariable: modelVariableOf(type),
    model: null,
  };
}

function modelVariableOf(type: string): string {
  return `${type.toUpperCase()}_MODEL`;
}

/** What can be asked, and one line for everything else: which variables it wants. */
export function liveProviders(env: Environment): { present: LiveProvider[]; absent: string[] } {
  const present: LiveProvider[] = [];
  const absent: string[] = [];
  for (const known of KNOWN) {
    const model = env[known.modelVariable] ?? known.model;
    const wanted = [known.needs, ...(known.baseUrlVariable ? [known.baseUrlVariable] : [])];
    if (known.model === null) wanted.push(known.modelVariable);
    const missing = [...new Set(wanted)].filter((variable) => !env[variable]);
    if (missing.length > 0 || model === null) absent.push(`${known.name}: set ${missing.join(', ')}`);
    else present.push({ name: known.name, model, config: configOf(known, env) });
  }
  return { present, absent };
}

function configOf({ type, keyVariable, baseUrlVariable }: Known, env: Environment): Record<string, unknown> {
  const key = keyVariable !== undefined && env[keyVariable] ? { api_key: `\${${keyVariable}}` } : {};
  const url = baseUrlVariable === undefined ? {} : { base_url: env[baseUrlVariable] };
  return { type, ...key, ...url };
}
