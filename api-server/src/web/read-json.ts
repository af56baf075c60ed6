import { isUtf8 } from 'node:buffer';
import { AppError } from '@signalbox/crds';

/** A body that is not what a route could be asked with. */
export class UnreadableBody extends AppError {
  constructor(message: string, options?: { cause: unknown }) {
    super('validation', message, options);
  }
}

const MAX_DEPTH = 64;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/**
 * Parses a JSON body: UTF-8, at most 64 levels deep, no key that reaches a prototype. An empty body is undefined.
 * Throws the typed 400.
 */
export function readJson(body: Buffer): unknown {
  if (body.length === 0) return undefined;
  if (!isUtf8(body)) throw new UnreadableBody('the body is not UTF-8');
  if (isTooDeep(body)) throw new UnreadableBody(`the body is nested deeper than ${MAX_DEPTH} levels`);
  const text = body.toString('utf8');
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new UnreadableBody('the body is not valid JSON', { cause });
  }
  if (MAY_REACH_PROTOTYPE.test(text) && reachesPrototype(value)) {
    throw new UnreadableBody('the body has a key that is not allowed');
  }
  return value;
}

/** Counts open brackets outside strings, before anything is parsed. */
function isTooDeep(body: Buffer): boolean {
  let depth = 0;
  let inString = false;
  for (let at = 0; at < body.length; at++) {
    const byte = body[at] as number;
    if (inString) {
      if (byte === BACKSLASH) at++;
      else if (byte === QUOTE) inString = false;
      continue;
    }
    if (byte === QUOTE) inString = true;
    // [ and { differ in one bit, as do ] and }.
    else if ((byte & 0xdf) === 0x5b && ++depth > MAX_DEPTH) return true;
    else if ((byte & 0xdf) === 0x5d) depth--;
  }
  return false;
}

/** A key may also be spelled with escapes. */
const MAY_REACH_PROTOTYPE = /__proto__|constructor|\\u00/i;

function reachesPrototype(value: unknown): boolean {
  const open: unknown[] = [value];
  while (open.length > 0) {
    const next = open.pop();
    if (typeof next !== 'object' || next === null) continue;
    if (Object.hasOwn(next, '__proto__')) return true;
    const named = Object.hasOwn(next, 'constructor') ? (next as { constructor: unknown }).constructor : undefined;
    if (typeof named === 'object' && named !== null && Object.hasOwn(named, 'prototype')) return true;
    for (const entry of Object.values(next)) open.push(entry);
  }
  return false;
}
