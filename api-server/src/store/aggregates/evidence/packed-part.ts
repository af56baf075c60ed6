import { deserialize, serialize } from 'node:v8';
import type { Alike, Columns, EvidenceBatch, Kind } from '../../../analytics/readiness/executions.ts';

/** Executions without what people said of them, which may change. */
export type PackedPart = Omit<EvidenceBatch, 'marks'>;

/** A kind, and how many executions there are of it. */
type PackedKind = [
  stepName: string,
  agent: string | null,
  provider: string | null,
  model: string | null,
  promptHash: string | null,
  agentVersion: string | null,
  status: string,
  errorType: string | null,
  n: number,
];

/** Not compressed: that would cost the reader more than all it does with the numbers. Texts are read fastest from JSON. */
interface Stored {
  head: string;
  columns: Columns;
}

export function pack({ runs, columns, alike }: PackedPart): Uint8Array {
  const head = JSON.stringify({ runs, kinds: alike.map(packedKind) });
  return serialize({ head, columns } satisfies Stored);
}

function packedKind({ kind, begin, end }: Alike): PackedKind {
  const { stepName, agent, provider, model, promptHash, agentVersion, status, errorType } = kind;
  return [stepName, agent, provider, model, promptHash, agentVersion, status, errorType, end - begin];
}

export function unpack(body: Uint8Array): PackedPart {
  const { head, columns } = deserialize(body) as Stored;
  const { runs, kinds } = JSON.parse(head) as { runs: number[]; kinds: PackedKind[] };
  let end = 0;
  const alike = kinds.map((packed): Alike => {
    const [stepName, agent, provider, model, promptHash, agentVersion, status, errorType, n] = packed;
    const kind: Kind = { stepName, agent, provider, model, promptHash, agentVersion, status, errorType };
    const begin = end;
    end += n;
    return { kind, begin, end };
  });
  return { runs, columns, alike };
}
