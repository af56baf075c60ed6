import { type Document, isMap, isScalar, LineCounter, type Node, type Pair, type YAMLMap } from 'yaml';
import { readLoaded } from '../../definitions/read-loaded.ts';

/** Where in a definition's text the key `readiness` of one map belongs. Lines count from 1. */
export interface Place {
  /** `flow` is a map in braces. */
  style: 'block' | 'flow';
  /** Columns before the keys of the map. */
  indent: number;
  /** Below this line, or right after the brace on it. */
  line: number;
  /** The lines of the key that stands there already. */
  replaces: { from: number; to: number } | null;
}

type Loc = readonly (string | number)[];

/** Null where the text does not show the map as a map of its own, as with an alias. */
export type FindPlace = (loc: Loc) => Place | null;

/** Reads a text that is loaded, once for all its places: the text of a large definition takes some 50 ms. */
export function placesIn(text: string): FindPlace {
  const lines = new LineCounter();
  const document: Document = readLoaded(text, lines);
  return (loc) => placeOf(document, lines, loc);
}

function placeOf(document: Document, lines: LineCounter, loc: Loc): Place | null {
  const map = loc.length === 0 ? document.contents : document.getIn(loc, true);
  if (!isMap(map)) return null;
  const at = (offset: number) => lines.linePos(offset);
  const known = pairOf(map, 'readiness');
  const replaces = known && linesOf(known, at);
  const start = rangeOf(map)?.[0];
  if (map.flow === true && start !== undefined) return { style: 'flow', indent: 0, line: at(start).line, replaces };
  const keys = keysOf(map);
  // The dash of a list stands on the line of the first key: that line cannot go.
  if (keys === null || (known === map.items[0] && loc.length > 0)) return null;
  return { style: 'block', indent: at(keys.first).col - 1, line: at(keys.nameEnd).line, replaces };
}

/** Offsets of the first key, and of the end of the name, which is there in every map that is asked for. */
function keysOf(map: YAMLMap): { first: number; nameEnd: number } | null {
  const first = rangeOf(map.items[0]?.key)?.[0];
  const nameEnd = rangeOf(pairOf(map, 'name')?.value)?.[1];
  return first === undefined || nameEnd === undefined ? null : { first, nameEnd };
}

const pairOf = (map: YAMLMap, name: string): Pair | null =>
  map.items.find(({ key }) => isScalar(key) && key.value === name) ?? null;

const rangeOf = (node: unknown) => (node as Node | null | undefined)?.range ?? undefined;

function linesOf({ key, value }: Pair, at: (offset: number) => { line: number }): Place['replaces'] {
  const from = rangeOf(key);
  const to = rangeOf(value) ?? from;
  return from && to ? { from: at(from[0]).line, to: at(Math.max(from[0], to[1] - 1)).line } : null;
}
