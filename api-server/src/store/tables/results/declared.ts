import type { Kysely } from 'kysely';
import { declaredOutputs, type DeclaredOutputs } from '../../../runs/state/result.ts';
import type { Tables } from '../../db/schema.ts';

/** What the steps of a definition declare, by their names. */
export type DeclaredSteps = ReadonlyMap<string, DeclaredOutputs>;

/** The declared outputs of definitions, by hash; a hash that is not stored any more has none. */
export type ReadDeclared = (
  db: Kysely<Tables>,
  hashes: readonly string[],
) => Promise<ReadonlyMap<string, DeclaredSteps>>;

/** Definitions that are remembered: a body never changes under its hash. */
const REMEMBERED = 500;

export function createDeclared(): ReadDeclared {
  const known = new Map<string, DeclaredSteps>();
  return async (db, hashes) => {
    const missing = [...new Set(hashes)].filter((hash) => !known.has(hash));
    if (missing.length > 0) {
      if (known.size + missing.length > REMEMBERED) known.clear();
      const rows = await db.selectFrom('definitions').select(['hash', 'body']).where('hash', 'in', missing).execute();
      for (const { hash, body } of rows) known.set(hash, declaredIn(JSON.parse(body) as Body));
    }
    return known;
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

const declaredIn = ({ steps = [] }: Body): DeclaredSteps =>
  new Map(
    steps
      .flatMap((entry) => [entry, ...(entry.parallel?.steps ?? [])])
      .flatMap(({ name, output_schema: schema }) =>
        name === undefined || schema === undefined ? [] : [[name, declaredOutputs(schema)] as const],
      ),
  );
