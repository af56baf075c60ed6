import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parse } from 'yaml';

/** What a replay changes of a step; a key that is absent stays as it is. */
export interface Candidate {
  agent?: string;
  model?: string;
  prompt_template?: string;
}

type Body = Record<string, unknown>;

const isMap = (value: unknown): value is Body => typeof value === 'object' && value !== null && !Array.isArray(value);
const KEYS = ['agent', 'model', 'prompt_template'] as const;

/** A definition file, or the `spec` of a Kubernetes object. */
function readBody(file: string): Body {
  const read: unknown = parse(readFileSync(file, 'utf8'));
  if (!isMap(read)) throw new Error(`${file}: not a definition`);
  return isMap(read['spec']) ? { name: (read['metadata'] as Body | undefined)?.['name'], ...read['spec'] } : read;
}

/** The step of a pipeline or library file, as it would ask its agent. Throws with one line where there is none. */
export function readCandidate(file: string, step: string, library = join(dirname(file), '../steps')): Candidate {
  const body = readBody(file);
  const found = Array.isArray(body['steps']) ? stepNamed(body['steps'], step) : body;
  if (found === null) throw new Error(`${file}: no step is named "${step}"`);
  const whole = typeof found['use'] === 'string' ? { ...libraryStep(library, found['use']), ...found } : found;
  const candidate: Candidate = {};
  for (const key of KEYS) {
    const value = whole[key];
    if (typeof value === 'string') candidate[key] = value;
  }
  if (candidate.prompt_template === undefined) throw new Error(`${file}: step "${step}" has no prompt_template`);
  return candidate;
}

/** A branch of a group has its own name, the step of a fan-out that of its entry. */
function stepNamed(entries: readonly unknown[], name: string): Body | null {
  for (const entry of entries.filter(isMap)) {
    const { parallel, fan_out: fanOut } = entry;
    const branches = isMap(parallel) && Array.isArray(parallel['steps']) ? stepNamed(parallel['steps'], name) : null;
    if (branches) return branches;
    if (entry['name'] === name) return isMap(fanOut) && isMap(fanOut['step']) ? fanOut['step'] : entry;
  }
  return null;
}

function libraryStep(folder: string, name: string): Body {
  const files = existsSync(folder) ? readdirSync(folder).filter((file) => /\.ya?ml$/.test(file)) : [];
  const found = files.map((file) => readBody(join(folder, file))).find((body) => body['name'] === name);
  if (!found) throw new Error(`${folder}: no library step is named "${name}"; --library names its folder`);
  return found;
}
