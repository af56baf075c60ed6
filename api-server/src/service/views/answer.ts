import { z } from 'zod';
import { tidy } from '../../analytics/tidy.ts';
import { type CamelKey, camelKey } from '../../runs/state/key-case.ts';

/** Names a schema as a component of the API description. The example is held to the schema by a test. */
export const component = <S extends z.ZodType>(id: string, schema: S, example: z.input<S>): S =>
  schema.meta({ id, examples: [example] });

/** ISO 8601 in UTC. */
export const Time = z.iso.datetime();
export const iso = (ms: number): string => new Date(ms).toISOString();
export const secondsBetween = (from: number, to: number | null): number | null =>
  to === null ? null : Math.max(0, to - from) / 1000;

/** What an answer is made of: its fields in camelCase, times (`…_at`) in milliseconds. */
type Source<View> = {
  [K in keyof View as CamelKey<K>]: K extends `${string}_at` ? TimeOf<View[K]> : View[K];
};
type TimeOf<T> = T extends string ? number : T;

interface Field {
  key: string;
  from: string;
  isTime: boolean;
}

/** The fields of each schema: a list makes thousands of views. */
const known = new WeakMap<z.ZodObject, readonly Field[]>();

function fieldsOf(schema: z.ZodObject): readonly Field[] {
  const found = known.get(schema);
  if (found) return found;
  const fields = Object.keys(schema.shape).map((key) => ({
    key,
    from: camelKey(key),
    isTime: key.endsWith('_at'),
  }));
  known.set(schema, fields);
  return fields;
}

/**
 * The fields that `schema` names, from `source`, in the words of the API. `more` has the fields that are not in the source
 * under the same name. Everything else in the source stays inside.
 */
export function viewOf<Schema extends z.ZodObject, More extends Partial<z.output<Schema>> = object>(
  schema: Schema,
  source: Source<Omit<z.output<Schema>, keyof More>>,
  more?: More,
): z.output<Schema> {
  const view: Record<string, unknown> = {};
  for (const { key, from, isTime } of fieldsOf(schema)) {
    const value: unknown = source[from as keyof typeof source];
    view[key] = isTime && typeof value === 'number' ? iso(value) : withoutNoise(value);
  }
  for (const key in more) view[key] = withoutNoise(more[key]);
  return view as z.output<Schema>;
}

/** Numbers of an answer lose the rounding of binary fractions; what lies deeper may be what an agent said, and stays. */
const withoutNoise = (value: unknown): unknown =>
  typeof value === 'number' && !Number.isInteger(value) ? tidy(value) : value;

export const NullableText = z.string().nullable();
export const NullableNumber = z.number().nullable();
export const AnyObject = z.record(z.string(), z.unknown());
