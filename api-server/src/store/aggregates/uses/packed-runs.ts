import type { RunKind, RunTimes } from '../../../analytics/run-tally.ts';
import { keyName } from '../../../runs/state/hourly.ts';

/** An agent and the model that answered for it, as keys; empty for none. */
export type Use = readonly [agent: string, model: string];

export const useOf = (agent: string | null, model: string | null): Use => [
  keyName('agent', agent),
  keyName('model', model),
];

export interface StagedKind extends RunKind {
  stage: string;
}

/** An ended run and what its executions used. */
export interface UsedRun {
  kind: StagedKind;
  times: RunTimes;
  uses: readonly Use[];
}

/** What the columns of a part refer to by their places in these lists. */
interface Head {
  runs: number;
  kinds: readonly StagedKind[];
  uses: readonly Use[];
  /** The runs that waited for people, and how long. */
  waited: readonly (readonly [run: number, ms: number])[];
}

/** Runs of a day, by column: how long they took, when on the day they were triggered, their kinds, and a row of bits for their uses. */
interface Columns {
  took: Float64Array;
  after: Uint32Array;
  kind: Uint16Array;
  used: Uint8Array;
}

/** Runs of one part: few, so that one is packed in a turn of the event loop. Kinds have numbers of 16 bits. */
export const RUNS_A_PART = 2_000;
const LENGTH_BYTES = 4;
const ALIGNED = 8;

const bytesFor = (uses: number): number => Math.ceil(uses / 8);
const headEnd = (length: number): number => Math.ceil((LENGTH_BYTES + length) / ALIGNED) * ALIGNED;

function columnsIn(buffer: ArrayBufferLike, from: number, { runs, uses }: Pick<Head, 'runs' | 'uses'>): Columns {
  const after = from + runs * Float64Array.BYTES_PER_ELEMENT;
  const kind = after + runs * Uint32Array.BYTES_PER_ELEMENT;
  const used = kind + runs * Uint16Array.BYTES_PER_ELEMENT;
  return {
    took: new Float64Array(buffer, from, runs),
    after: new Uint32Array(buffer, after, runs),
    kind: new Uint16Array(buffer, kind, runs),
    used: new Uint8Array(buffer, used, runs * bytesFor(uses.length)),
  };
}

/** Up to `RUNS_A_PART` runs that were triggered on a day. */
export function packRuns(day: number, runs: readonly UsedRun[]): Uint8Array {
  const kinds = placed<StagedKind>();
  const uses = placed<Use>();
  const rows = runs.map((run) => ({ ...run, kind: kinds.placeOf(run.kind), uses: run.uses.map(uses.placeOf) }));
  const waited = rows.flatMap(({ times }, n) => (times.waited === null ? [] : [[n, times.waited] as const]));
  const head: Head = { runs: runs.length, kinds: kinds.list, uses: uses.list, waited };
  const text = new TextEncoder().encode(JSON.stringify(head));
  const width = bytesFor(uses.list.length);
  const buffer = new ArrayBuffer(headEnd(text.length) + runs.length * (8 + 4 + 2 + width));
  new DataView(buffer).setUint32(0, text.length, true);
  new Uint8Array(buffer).set(text, LENGTH_BYTES);
  const columns = columnsIn(buffer, headEnd(text.length), head);
  for (const [n, row] of rows.entries()) {
    columns.took[n] = row.times.took;
    columns.after[n] = row.times.triggeredAt - day;
    columns.kind[n] = row.kind;
    for (const use of row.uses) setBit(columns.used, n * width, use);
  }
  return new Uint8Array(buffer);
}

function setBit(bytes: Uint8Array, from: number, bit: number): void {
  const at = from + (bit >> 3);
  bytes[at] = (bytes[at] ?? 0) | (1 << (bit & 7));
}

/** A list without repetitions, and the places of what is in it. */
function placed<T>() {
  const list: T[] = [];
  const places = new Map<string, number>();
  const placeOf = (one: T): number => {
    const key = JSON.stringify(one);
    const place = places.get(key) ?? list.length;
    if (place === list.length) list.push(one);
    places.set(key, place);
    return place;
  };
  return { list, placeOf };
}

/** Which runs of a part are asked for. */
export interface Wanted {
  /** The object that stands for the kind in all parts; null where none of it is asked for. */
  kind(kind: StagedKind): StagedKind | null;
  /** Of a run one of its uses must be so; null where they do not matter. */
  use: ((use: Use) => boolean) | null;
}

export interface Part {
  day: number;
  body: Uint8Array;
}

function open({ body }: Part): Head & Columns {
  // The columns begin at multiples of their size in memory that does.
  const { buffer, byteOffset } = body.byteOffset % ALIGNED === 0 ? body : new Uint8Array(body);
  const length = new DataView(buffer, byteOffset).getUint32(0, true);
  const head = JSON.parse(Buffer.from(buffer, byteOffset + LENGTH_BYTES, length).toString()) as Head;
  return { ...head, ...columnsIn(buffer, byteOffset + headEnd(length), head) };
}

/** Calls `add` with each of the wanted runs of a part. */
export function unpackRuns(part: Part, wanted: Wanted, add: (kind: StagedKind, times: RunTimes) => void): void {
  const { runs, uses, used, ...columns } = open(part);
  const kinds = columns.kinds.map(wanted.kind);
  const waited = new Map(columns.waited);
  const isUsed = usedBy(uses, wanted.use, used);
  for (let n = 0; n < runs; n += 1) {
    const kind = kinds[columns.kind[n] ?? 0];
    if (!kind || !isUsed(n)) continue;
    const triggeredAt = part.day + (columns.after[n] ?? 0);
    add(kind, { triggeredAt, took: columns.took[n] ?? 0, waited: waited.get(n) ?? null });
  }
}

/** Calls `add` with each use of each run of a part. */
export function unpackUses(part: Part, add: (kind: StagedKind, use: Use) => void): void {
  const { runs, uses, used, ...columns } = open(part);
  const width = bytesFor(uses.length);
  for (let n = 0; n < runs; n += 1) {
    const kind = columns.kinds[columns.kind[n] ?? 0];
    if (kind === undefined) continue;
    for (const [at, use] of uses.entries()) if (hasBit(used, n * width, at)) add(kind, use);
  }
}

const hasBit = (bytes: Uint8Array, from: number, bit: number): boolean =>
  ((bytes[from + (bit >> 3)] ?? 0) & (1 << (bit & 7))) !== 0;

/** Whether a run has one of the wanted uses, from its row of bits. */
function usedBy(uses: readonly Use[], isWanted: Wanted['use'], used: Uint8Array): (run: number) => boolean {
  if (isWanted === null) return () => true;
  const width = bytesFor(uses.length);
  const mask = new Uint8Array(width);
  for (const [n, use] of uses.entries()) if (isWanted(use)) setBit(mask, 0, n);
  const places = [...mask.keys()].filter((at) => mask[at] !== 0);
  return (run) => {
    for (const at of places) if (((used[run * width + at] ?? 0) & (mask[at] ?? 0)) !== 0) return true;
    return false;
  };
}
