import { promisify } from 'node:util';
import { zstdCompress, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import type { RunEvent } from '../../../runs/state/model.ts';
import type { StepRow } from '../rows/step-row.ts';

/** Columns of a step that only its page, replays and exports read. */
export const TEXTS = [
  'trust_report',
  'checks',
  'artifacts',
  'next_step_context',
  'output',
  'raw_response',
] as const satisfies readonly (keyof StepRow)[];
export type TextColumn = (typeof TEXTS)[number];

/** What begins a body: a line of JSON. `steps` names the texts that follow, in their order; it is absent where there are none. */
interface Head {
  context: Record<string, unknown>;
  raw: unknown;
  events: RunEvent[];
  steps?: [stepName: string, column: TextColumn][];
}

/** What only the page of a run shows, in one piece once the run has ended: the same words come in all of it. */
export interface PackedBody extends Omit<Head, 'steps'> {
  /** JSON as it was stored, by the names of steps. */
  texts: ReadonlyMap<string, Partial<Record<TextColumn, string>>>;
}

/** Between texts: no JSON holds this sign. */
const BETWEEN = '\u001e';

const compressed = promisify(zstdCompress);
/** Longer texts are compressed beside the event loop; for the others the way there costs more than the work. */
const LONG = 256 * 1024;

/** A text of a step, as JSON. */
export interface StepText {
  step: string;
  column: TextColumn;
  json: string;
}

/** `head` is the JSON of a `Head` without `steps`. */
export async function pack(head: string, texts: readonly StepText[]): Promise<Uint8Array> {
  const steps = JSON.stringify(texts.map(({ step, column }) => [step, column]));
  const whole = [`${head.slice(0, -1)},"steps":${steps}}`, ...texts.map(({ json }) => json)].join(BETWEEN);
  if (whole.length <= LONG) return zstdCompressSync(whole);
  const bytes = Buffer.from(whole);
  // Else the body would not say how large it is.
  return compressed(bytes, { pledgedSrcSize: bytes.length });
}

/** Bytes of a body that say how large the whole is. */
export const HEAD_BYTES = 18;
/** Of a body that does not say it: this many times what it is packed. */
const USUAL_RATIO = 16;

/** The size of a body by the header of its first frame (RFC 8878, 3.1.1.1), without reading it. */
export function unpackedBytes(head: Uint8Array, packed: number): number {
  const bytes = Buffer.from(head);
  const flags = bytes.at(4) ?? 0;
  const isSingle = (flags & 0x20) !== 0;
  const at = 5 + (isSingle ? 0 : 1) + ([0, 1, 2, 4][flags & 3] ?? 0);
  const width = [isSingle ? 1 : 0, 2, 4, 8][flags >> 6] ?? 0;
  if (width === 0 || bytes.length < at + width) return packed * USUAL_RATIO;
  const size = width === 8 ? Number(bytes.readBigUInt64LE(at)) : bytes.readUIntLE(at, width);
  return width === 2 ? size + 256 : size;
}

/** Whether a stored text or body is not as it was written: the disk or another program changed it. */
export const isUnreadable = (error: unknown): boolean =>
  error instanceof SyntaxError ||
  (error instanceof Error && 'code' in error && /^(?:ZSTD_|Z_BUF_ERROR$)/.test(String(error.code)));

/** The first part of a body, as JSON. */
export function headOf(body: Uint8Array): string {
  const bytes = decompressed(body);
  return bytes.toString('utf8', 0, endOf(bytes, 0));
}

/** The whole of it; the texts of steps stay JSON. */
export function unpack(body: Uint8Array): PackedBody {
  const bytes = decompressed(body);
  const { steps: _, ...head } = JSON.parse(bytes.toString('utf8', 0, endOf(bytes, 0))) as Head;
  return { ...head, texts: textsIn(bytes, TEXTS) };
}

/** Which texts are read: of all steps where none are named, and up to `most` bytes of each. */
interface Wanted {
  steps?: ReadonlySet<string>;
  most?: number | undefined;
}

/** Only the texts of some columns: the others are not even made a string. */
export const unpackTexts = (body: Uint8Array, columns: readonly TextColumn[], wanted?: Wanted): PackedBody['texts'] =>
  textsIn(decompressed(body), columns, wanted);

/** At the end of a text that was cut where it was read: no JSON ends so. */
export const CUT = '…';

/** What begins the list of texts: it is the last one in a head, and no JSON string holds it. */
const STEPS = '"steps":';

function textsIn(
  bytes: Buffer,
  columns: readonly TextColumn[],
  { steps, most = Infinity }: Wanted = {},
): PackedBody['texts'] {
  const texts = new Map<string, Partial<Record<TextColumn, string>>>();
  let end = endOf(bytes, 0);
  if (end === bytes.length) return texts;
  const list = bytes.toString('utf8', bytes.lastIndexOf(STEPS, end) + STEPS.length, end - 1);
  for (const [step, column] of JSON.parse(list) as NonNullable<Head['steps']>) {
    const begin = end + 1;
    end = endOf(bytes, begin);
    if (!columns.includes(column) || steps?.has(step) === false) continue;
    const known = texts.get(step) ?? {};
    known[column] = begin > bytes.length ? 'null' : textAt(bytes, begin, { end, most });
    texts.set(step, known);
  }
  return texts;
}

const textAt = (bytes: Buffer, begin: number, { end, most }: { end: number; most: number }): string =>
  end - begin > most ? bytes.toString('utf8', begin, begin + most) + CUT : bytes.toString('utf8', begin, end);

function endOf(bytes: Buffer, begin: number): number {
  const at = bytes.indexOf(BETWEEN, begin);
  return at === -1 ? bytes.length : at;
}

/** Most bodies fit into it, so that nothing is put together from pieces. */
const ROOM_BYTES = 32 * 1024;

const decompressed = (body: Uint8Array): Buffer => zstdDecompressSync(body, { chunkSize: ROOM_BYTES });

/** In place of a text of a step that was packed, and before what stays of an answer. */
export const PACKED_TEXT = '';
const PACKED_ANSWER = '{"packed":true,';

const SECOND_OPINION = /"part":"(?:verifier|grounding)"/;

/** What stays of an answer in its row: who was asked beside the step's own agent, which statistics read there; null where nobody was. */
export function leftOf(answer: string | null): string | null {
  if (answer === null || !SECOND_OPINION.test(answer)) return null;
  const { costs } = JSON.parse(answer) as { costs?: unknown };
  return `${PACKED_ANSWER}"costs":${JSON.stringify(costs ?? [])}}`;
}

export const isPacked = (text: unknown): boolean =>
  text === PACKED_TEXT || (typeof text === 'string' && text.startsWith(PACKED_ANSWER));

/** Whether a text of this row of a step was packed. */
export const hasPacked = (row: object): boolean =>
  TEXTS.some((column) => isPacked((row as Partial<Record<TextColumn, unknown>>)[column]));

/** A row of a step with the texts that were packed in their place again. */
export function filled<Row extends object>(row: Row, step: string, body: Pick<PackedBody, 'texts'> | undefined): Row {
  if (!hasPacked(row)) return row;
  const packed = TEXTS.filter((column) => isPacked((row as Partial<Record<TextColumn, unknown>>)[column]));
  const texts = body?.texts.get(step);
  return { ...row, ...Object.fromEntries(packed.map((column) => [column, texts?.[column] ?? null])) };
}
