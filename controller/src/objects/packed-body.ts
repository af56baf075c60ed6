import { isDeepStrictEqual } from 'node:util';
import { gunzipSync, gzipSync } from 'node:zlib';
import { contentHash, valuesIn } from '@signalbox/crds';
import { type AgentNeeds, agentNeeds } from './agent-needs.ts';
import { isSoundStatus, MAX_STATUS_VALUES } from './definition-size.ts';

type Body = Record<string, unknown>;

/** A body as it stands in a status: two lines that people can skip, where its text would fill screens. Kept so: many fit in memory. */
export interface PackedBody {
  hash: string;
  /** The JSON, compressed, in base64. */
  gzip: string;
  /** So many characters of it were left out here, and are in the cluster. */
  leftOut?: number;
  /** Of the body of an agent. Counts only where that was left out: whoever may write a status may write another. */
  needs?: AgentNeeds;
}

/** With the usual 256 KiB of tables, to fill them takes longer than to compress a body. */
const SMALL_TABLES = { windowBits: 13, memLevel: 6 };

/** A definition holds at most 256 KiB of YAML; expanded, it stays below this. */
const MAX_BYTES = 4 * 1024 * 1024;

/** Longer than any hash. */
const MAX_HASH = 128;

const hashes = new WeakMap<Body, string>();

/** The same as before where the body is. */
export function packBody(body: Body, before?: PackedBody): PackedBody {
  const hash = hashes.get(body) ?? contentHash(body);
  hashes.set(body, hash);
  if (before?.hash === hash) return before;
  return { hash, gzip: gzipSync(JSON.stringify(body), SMALL_TABLES).toString('base64') };
}

/** The packed body in a status; packs one as earlier versions wrote it. */
export function packedIn(written: Body): PackedBody {
  const { hash, gzip, needs } = written;
  if (typeof gzip !== 'string') return withNeeds(packBody(written), agentNeeds(written));
  const packed = { hash: typeof hash === 'string' && hash.length <= MAX_HASH ? hash : '', gzip };
  return typeof needs === 'object' && needs !== null ? { ...packed, needs: agentNeeds({ ...needs }) } : packed;
}

/** The same where it has them. */
export const withNeeds = (packed: PackedBody, needs: AgentNeeds | undefined): PackedBody =>
  isDeepStrictEqual(packed.needs, needs) ? packed : { hash: packed.hash, gzip: packed.gzip, ...(needs && { needs }) };

const textIn = (gzip: string): string =>
  gunzipSync(Buffer.from(gzip, 'base64'), { maxOutputLength: MAX_BYTES }).toString();

/** Only of a body that `unpackBody` answered before: checks nothing, which takes most of the time. */
export const unpackAgain = ({ gzip }: PackedBody): Body => JSON.parse(textIn(gzip)) as Body;

/** Undefined where it cannot be read, or is not the body that the hash names. */
export function unpackBody({ hash, gzip }: PackedBody): Body | undefined {
  try {
    const text = textIn(gzip);
    // Of twice as many signs: a list in a list has two.
    if (valuesIn(text) > 2 * MAX_STATUS_VALUES) return undefined;
    const body = JSON.parse(text) as Body;
    return isSoundStatus(body) && contentHash(body) === hash ? body : undefined;
  } catch {
    return undefined;
  }
}
