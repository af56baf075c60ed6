import { isIP } from 'node:net';
import { Cron } from 'croner';
import { z } from 'zod';

const asNumber = (value: unknown) =>
  typeof value === 'string' && /^-?\d+(\.\d+)?$/.test(value) ? Number(value) : value;
const asBoolean = (value: unknown) => (value === 'true' ? true : value === 'false' ? false : value);

/** Numbers and booleans also accept their text form, because `${ENV}` always produces a string. */
export const whole = (min: number, max = Number.MAX_SAFE_INTEGER) => z.preprocess(asNumber, z.int().min(min).max(max));
export const decimal = (min: number, max = Number.MAX_VALUE) => z.preprocess(asNumber, z.number().min(min).max(max));
export const flag = () => z.preprocess(asBoolean, z.boolean());
export const text = () => z.string().min(1, 'is empty');
/** A list that may also be written as one comma-separated string. */
export const words = (word: z.ZodType<string> = text()) =>
  z.preprocess(
    (value) => (typeof value === 'string' ? value.split(',').map((part) => part.trim()) : value),
    z.array(word),
  );

/** A block whose defaults apply even when it is missing or empty. */
export const block = <S extends z.ZodRawShape>(shape: S) => z.preprocess((value) => value ?? {}, z.strictObject(shape));
/** A block whose absence has a meaning; an empty block counts as present. */
export const optionalBlock = <S extends z.ZodRawShape>(shape: S) =>
  z.preprocess((value) => (value === null ? {} : value), z.strictObject(shape).optional());

export const url = (...protocols: string[]) =>
  text().refine(
    (value) => URL.canParse(value) && protocols.includes(new URL(value).protocol),
    `must be a URL of ${protocols.join(' or ')}`,
  );

/** Five fields, and a fire that is still to come. */
export const cron = () =>
  text().superRefine((pattern, context) => {
    try {
      if (new Cron(pattern, { mode: '5-part', paused: true }).nextRun() === null)
        context.addIssue({ code: 'custom', message: 'never fires' });
    } catch {
      context.addIssue({ code: 'custom', message: 'is no cron expression' });
    }
  });

/** An address, a CIDR range, or `*` for every address. */
export const addressRange = () =>
  text().refine((value) => {
    const [address = '', bits, ...rest] = value.split('/');
    if (value === '*') return true;
    if (isIP(address) === 0 || rest.length > 0) return false;
    return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (isIP(address) === 6 ? 128 : 32));
  }, 'must be an address, a range like 10.0.0.0/8, or *');
