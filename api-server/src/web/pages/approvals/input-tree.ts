import { type LinePart, readableJson, readableLine } from '../../../service/views/approval.ts';
import { charsOf, escapedLength } from '../fit-model.ts';

/** A value of an input as rows in which nothing is folded, cut or hidden. */
export interface InputNode {
  key: string | null;
  kind: 'string' | 'number' | 'word' | 'object' | 'array';
  /** The lines of a string; null of other values, which are a `note`. */
  lines: LinePart[][] | null;
  /** Lines have numbers where there are several: others only wrap. */
  many: boolean;
  note: string;
  children: InputNode[];
}

/** Characters, as HTML, from which on an input is shown as JSON only, and of the markup of a row, a line and an escape. */
const MOST_CHARS = 80_000;
const MARKUP = { row: 160, line: 12, escape: 15 };
/** Deeper rows have no width left on a phone. */
const MOST_DEPTH = 8;

interface Room {
  left: number;
}

/** The input of a tool, to be read before it is approved; null where it is too long or too deep for that. */
export function inputTree(input: unknown): { root: InputNode; markup: number } | null {
  const room = { left: MOST_CHARS };
  const root = nodeOf(null, input, { depth: 0, room });
  return room.left < 0 ? null : { root, markup: MOST_CHARS - room.left - charsOf(root, Infinity) };
}

interface Place {
  depth: number;
  room: Room;
}

function nodeOf(key: string | null, value: unknown, place: Place): InputNode {
  const { room } = place;
  take(room, MARKUP.row + escapedLength(key ?? ''));
  const node = { key, lines: null, many: false, note: '', children: [] };
  if (typeof value === 'string') {
    const lines = linesOf(value, room);
    return { ...node, kind: 'string', lines, many: lines.length > 1 };
  }
  if (typeof value === 'object' && value !== null) return { ...node, ...partsOf(value, place) };
  return { ...node, kind: typeof value === 'number' ? 'number' : 'word', note: String(value) };
}

function partsOf(value: object, { depth, room }: Place): Pick<InputNode, 'kind' | 'note' | 'children'> {
  if (depth >= MOST_DEPTH) room.left = -1;
  const shape = Array.isArray(value) ? LIST : OBJECT;
  const children: InputNode[] = [];
  for (const [name, one] of Object.entries(value)) {
    if (room.left < 0) break;
    children.push(nodeOf(shape.nameOf(name), one, { depth: depth + 1, room }));
  }
  return { kind: shape.kind, note: children.length > 0 ? '' : shape.empty, children };
}

/** A name that reads as such, otherwise JSON. */
const keyText = (key: string): string => (/^[\w./-]+$/.test(key) ? key : readableJson(key));

const LIST = { kind: 'array', empty: '[]', nameOf: (at: string) => `[${at}]` } as const;
const OBJECT = { kind: 'object', empty: '{}', nameOf: keyText } as const;

function take(room: Room, chars: number): void {
  room.left -= chars;
}

function linesOf(text: string, room: Room): LinePart[][] {
  take(room, text.length);
  const lines: LinePart[][] = [];
  for (const line of room.left < 0 ? [] : text.split('\n')) {
    if (room.left < 0) break;
    const parts = readableLine(line);
    const size = parts.reduce((sum, part) => sum + escapedLength(part.text) + (part.escape ? MARKUP.escape : 0), 0);
    take(room, MARKUP.line + size - line.length);
    lines.push(parts);
  }
  return lines;
}
