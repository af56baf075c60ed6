import { createHash } from 'node:crypto';

/**
 * RFC 8785 (JCS) text of a JSON value: keys in UTF-16 order, no spaces, numbers as ECMAScript prints them.
 * `undefined` members are left out as JSON does.
 */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map((item) => canonicalJson(item ?? null)).join(',')}]`;
  if (typeof value === 'object' && value !== null) return canonicalObject(value as Record<string, unknown>);
  return JSON.stringify(value) ?? 'null';
}

function canonicalObject(value: Record<string, unknown>): string {
  const members = Object.keys(value)
    .filter((key) => value[key] !== undefined)
    .toSorted(byCodeUnit)
    .map((key) => `${JSON.stringify(key)}:${canonicalJson(value[key])}`);
  return `{${members.join(',')}}`;
}

function byCodeUnit(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/** SHA-256 (hex) over the canonical JSON of a value: for what somebody could make a second value of the same short hash of. */
export function longHash(value: unknown): string {
  return createHash('sha256').update(canonicalJson(value), 'utf8').digest('hex');
}

/** What an approver of a tool call sees, as a hash of its input. */
export function inputSha256(input: unknown): string {
  return longHash(input);
}

/** First 12 hex digits of SHA-256 over the canonical JSON of a value. A string is hashed as a JSON string. */
export function shortHash(value: unknown): string {
  return longHash(value).slice(0, 12);
}

/** Identifies a prompt template after `use:` was expanded (Orchestration 2.2). */
export function promptHash(template: string): string {
  return shortHash(template);
}

const NOT_BEHAVIOUR = new Set(['description', 'tags', 'runtime', 'soul']);

/** An agent's version: its behavioural keys as written and its soul (LF line ends, end trimmed). */
export function agentVersion(configAsWritten: Record<string, unknown>, soul: string): string {
  const behaviour = Object.entries(configAsWritten).filter(([key]) => !NOT_BEHAVIOUR.has(key));
  return shortHash({ config: Object.fromEntries(behaviour), soul: soul.replace(/\r\n?/g, '\n').trimEnd() });
}

/**
 * Hash of an effective definition body: `use:` expanded, defaults not applied. A stored run goes on with the body of this hash, so no author
 * may find a second body for the hash of another's: 32 hex digits.
 */
export function contentHash(body: unknown): string {
  return longHash(body).slice(0, 32);
}
