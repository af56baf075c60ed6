import { createRest } from '@signalbox/crds/process/rest';
import type { Kysely } from 'kysely';
import { LRUCache } from 'lru-cache';
import { declaredOutputs, type DeclaredOutputs } from '../../../runs/state/result.ts';
import type { Tables } from '../../db/schema.ts';

/** What the steps of a definition declare, by their names. */
export type DeclaredSteps = ReadonlyMap<string, DeclaredOutputs>;

/** The declared outputs of definitions, by hash; a hash that is not stored any more has none. */
export type ReadDeclared = (hashes: readonly string[]) => Promise<ReadonlyMap<string, DeclaredSteps>>;

/** Of the names that one definition declares, in characters; those of steps beyond that are not known. */
const MAX_NAMES = 64 * 1024;
/** Of all that are remembered: a body never changes under its hash. */
const REMEMBERED = 16 * 1024 * 1024;
/** Of a name or a step beside its text. */
const ENTRY_SIZE = 64;
/** Of a definition beside its steps. */
const EMPTY_SIZE = 512;

interface Declared {
  steps: DeclaredSteps;
  size: number;
}

/** Bodies are read one at a time, for all who ask: a list may name two hundred of a megabyte. */
export function createDeclared(db: Kysely<Tables>): ReadDeclared {
  const known = new LRUCache<string, Declared>({ maxSize: REMEMBERED, sizeCalculation: ({ size }) => size });
  const rest = createRest();
  let before: Promise<unknown> = Promise.resolve();
  const readOne = async (hash: string): Promise<Declared | undefined> => {
    const row = await db.selectFrom('definitions').select('body').where('hash', '=', hash).executeTakeFirst();
    const declared = row && declaredIn(JSON.parse(row.body) as Body);
    if (declared) known.set(hash, declared);
    return declared;
  };
  const read = (hash: string) => {
    const found = before.then(() => known.get(hash) ?? readOne(hash));
    before = found.then(rest, rest);
    return found;
  };
  return async (hashes) => {
    const found = new Map<string, DeclaredSteps>();
    for (const hash of new Set(hashes)) {
      const declared = known.get(hash) ?? (await read(hash));
      if (declared) found.set(hash, declared.steps);
    }
    return found;
  };
}

interface Entry {
  name?: string;
  output_schema?: unknown;
  parallel?: { steps: readonly Entry[] };
}
interface Body {
  steps?: readonly Entry[];
}

function declaredIn({ steps = [] }: Body): Declared {
  const declared = new Map<string, DeclaredOutputs>();
  let size = EMPTY_SIZE;
  for (const { name, output_schema: schema } of steps.flatMap((entry) => [entry, ...(entry.parallel?.steps ?? [])])) {
    if (name === undefined || schema === undefined) continue;
    const outputs = declaredOutputs(schema);
    const names = [name, ...outputs.required, ...outputs.actions];
    const more = names.reduce((sum, { length }) => sum + length + ENTRY_SIZE, 0);
    if (size + more > MAX_NAMES) continue;
    size += more;
    declared.set(name, outputs);
  }
  return { steps: declared, size };
}
