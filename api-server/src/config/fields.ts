import { z } from 'zod';

const asNumber = (value: unknown) =>
  typeof value === 'string' && /^-?\d+(\.\d+)?$/.test(value) ? Number(value) : value;
const asBoolean = (value: unknown) => (value === 'true' ? true : value === 'false' ? false : value);

/** Numbers and booleans also take their text form, which is what `${ENV}` leaves behind. */
export const whole = (min: number, max = Number.MAX_SAFE_INTEGER) => z.preprocess(asNumber, z.int().min(min).max(max));
export const decimal = (min: number, max = Number.MAX_VALUE) => z.preprocess(asNumber, z.number().min(min).max(max));
export const flag = () => z.preprocess(asBoolean, z.boolean());
export const text = () => z.string().min(1, 'is empty');
/** A list that may also be written as one comma-separated string. */
export const words = () =>
  z.preprocess(
    (value) => (typeof value === 'string' ? value.split(',').map((word) => word.trim()) : value),
    z.array(text()),
  );

/** A block that is there with its defaults even when it is left out or left empty. */
export const block = <S extends z.ZodRawShape>(shape: S) => z.preprocess((value) => value ?? {}, z.strictObject(shape));
/** A block that means something by being left out; left empty it counts as given. */
export const optionalBlock = <S extends z.ZodRawShape>(shape: S) =>
  z.preprocess((value) => (value === null ? {} : value), z.strictObject(shape).optional());

export const url = (...protocols: string[]) =>
  text().refine(
    (value) => URL.canParse(value) && protocols.includes(new URL(value).protocol),
    `must be a URL of ${protocols.join(' or ')}`,
  );
