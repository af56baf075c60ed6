import { z } from 'zod';

/** Names a schema as a component of the API description. The example is held to the schema by a test. */
export const component = <S extends z.ZodType>(id: string, schema: S, example: z.input<S>): S =>
  schema.meta({ id, examples: [example] });

/** ISO 8601 in UTC. */
export const Time = z.iso.datetime();
export const iso = (ms: number): string => new Date(ms).toISOString();
export const isoOrNull = (ms: number | null): string | null => (ms === null ? null : iso(ms));
export const secondsBetween = (from: number, to: number | null): number | null =>
  to === null ? null : Math.max(0, to - from) / 1000;

export const NullableText = z.string().nullable();
export const NullableNumber = z.number().nullable();
export const AnyObject = z.record(z.string(), z.unknown());
