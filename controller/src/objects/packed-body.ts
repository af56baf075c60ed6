import { gunzipSync, gzipSync } from 'node:zlib';
import { contentHash, valuesIn } from '@signalbox/crds';
import { isSoundStatus, MAX_STATUS_VALUES } from './definition-size.ts';

type Body = Record<string, unknown>;

/** A body as it stands in a status: two lines that people can skip, where its text would fill screens. */
export interface PackedBody {
  hash: string;
  /** The JSON, compressed, in base64. */
  gzip: string;
}

/** With the usual 256 KiB of tables, to fill them takes longer than to compress a body. */
const SMALL_TABLES = { windowBits: 13, memLevel: 6 };

/** A definition holds at most 256 KiB of YAML; expanded, it stays below this. */
const MAX_BYTES = 4 * 1024 * 1024;

export const packBody = (body: Body): PackedBody => ({
  hash: contentHash(body),
  gzip: gzipSync(JSON.stringify(body), SMALL_TABLES).toString('base64'),
});

/** Also takes a body as earlier versions wrote it; undefined where it cannot be read. */
export function unpackBody(written: Body): Body | undefined {
  const { gzip } = written;
  if (typeof gzip !== 'string') return written;
  try {
    const text = gunzipSync(Buffer.from(gzip, 'base64'), { maxOutputLength: MAX_BYTES }).toString();
    // Of twice as many signs: a list in a list has two.
    if (valuesIn(text) > 2 * MAX_STATUS_VALUES) return undefined;
    const body = JSON.parse(text) as Body;
    return isSoundStatus(body) ? body : undefined;
  } catch {
    return undefined;
  }
}
