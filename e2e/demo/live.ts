/** `--live`: the same agents answered by the model whose key is in the environment. */
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import type { Change } from '../support/local-config.ts';

interface LiveProvider {
  readonly name: string;
  readonly keyVariable: string;
  readonly model: string;
}

const PROVIDERS: readonly LiveProvider[] = [
  { name: 'anthropic', keyVariable: 'ANTHROPIC_API_KEY', model: 'claude-haiku-4-5' },
  { name: 'openai', keyVariable: 'OPENAI_API_KEY', model: 'gpt-5-mini' },
  { name: 'google', keyVariable: 'GEMINI_API_KEY', model: 'gemini-2.5-flash' },
];

export const KEY_VARIABLES = PROVIDERS.map(({ keyVariable }) => keyVariable);

/** The provider whose key is set, with the model to ask; null where there is none. */
export function liveProvider(
  env: Readonly<Record<string, string | undefined>>,
  model: string | null,
): LiveProvider | null {
  const found = PROVIDERS.find(({ keyVariable }) => env[keyVariable]);
  return found ? { ...found, model: model ?? found.model } : null;
}

/** Points the gateway at copies of the agents which name the model and carry no script. The key stays in the environment. */
export function liveChange({ name, keyVariable, model }: LiveProvider, dataDir: string): Change {
  return (config) => {
    const copies = join(dataDir, 'live-agents');
    rmSync(copies, { recursive: true, force: true });
    cpSync(config.agents_dir, copies, { recursive: true });
    for (const agent of readdirSync(copies)) adapt(join(copies, agent), `${name}/${model}`);
    config.agents_dir = copies;
    config.providers = { [name]: { type: name, api_key: `\${${keyVariable}}`, default: true } };
  };
}

function adapt(folder: string, model: string): void {
  const yamlPath = join(folder, 'agent.yaml');
  const soulPath = join(folder, 'soul.md');
  writeFileSync(yamlPath, stringify({ ...(parse(readFileSync(yamlPath, 'utf8')) as object), model }));
  writeFileSync(soulPath, withoutScript(readFileSync(soulPath, 'utf8')));
}

/** The soul as a language model should read it. */
export function withoutScript(soul: string): string {
  return `${soul
    .replace(/^```demo[ \t]*\n[\s\S]*?^```[ \t]*$/m, '')
    .replaceAll(/<!--[\s\S]*?-->/g, '')
    .trim()}\n`;
}
