import { valuesIn } from '@signalbox/crds';

/** What each value of JSON takes beside its text once it is read, in characters. */
export const VALUE_SIZE = 16;
/** The same of a name that no other object has after the names before it: what objects of one shape share. */
const SHAPE_SIZE = 160;

/** What `value`, of which `json` is the text, takes as it is, in characters. */
export const sizeOfValues = (value: unknown, json = JSON.stringify(value)): number =>
  VALUE_SIZE * valuesIn(json) + SHAPE_SIZE * shapesIn(value);

/** Sequences of names with which objects in it begin, each once. */
function shapesIn(value: unknown): number {
  const shapes = new Map<string, number>();
  const parts = isNested(value) ? [value] : [];
  // Those that are found in it come after it.
  for (const part of parts) {
    // The keys of a list would be a text for each element.
    const isList = Array.isArray(part);
    for (const item of isList ? (part as unknown[]) : Object.values(part)) if (isNested(item)) parts.push(item);
    let shape = 0;
    for (const name of isList ? [] : Object.keys(part)) {
      const longer = `${shape}/${name}`;
      shape = shapes.get(longer) ?? shapes.size + 1;
      shapes.set(longer, shape);
    }
  }
  return shapes.size;
}

const isNested = (value: unknown): value is object => typeof value === 'object' && value !== null;
