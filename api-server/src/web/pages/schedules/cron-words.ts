const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'];
const MONTHS = 'January February March April May June July August September October November December'.split(' ');

const NAMES: Record<string, number> = Object.fromEntries([
  ...DAYS.slice(0, 7).map((day, i) => [day.slice(0, 3).toUpperCase(), i] as const),
  ...MONTHS.map((month, i) => [month.slice(0, 3).toUpperCase(), i + 1] as const),
]);

const pad = (n: number): string => String(n).padStart(2, '0');
const ANY = { kind: 'any' } as const;
const and = (words: string[]): string =>
  words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1) ?? ''}`;

/** What one field says; null for a form that has no short words. */
type Field =
  | { kind: 'any' }
  | { kind: 'every'; step: number }
  | { kind: 'range'; from: number; to: number }
  | { kind: 'list'; values: number[] };

function numberOf(text: string): number | null {
  const value = NAMES[text.toUpperCase()] ?? (/^\d{1,2}$/.test(text) ? Number(text) : null);
  return value ?? null;
}

function stepOf(text: string): Field | null {
  const step = /^\*\/(\d{1,2})$/.exec(text)?.[1];
  if (step === undefined) return null;
  return Number(step) === 1 ? ANY : { kind: 'every', step: Number(step) };
}

function rangeOf(text: string): Field | null {
  const [from, to] = (/^(\w+)-(\w+)$/.exec(text) ?? []).slice(1).map(numberOf);
  return typeof from === 'number' && typeof to === 'number' ? { kind: 'range', from, to } : null;
}

function listOf(text: string): Field | null {
  const values = text.split(',').map(numberOf);
  return values.every((value) => value !== null) ? { kind: 'list', values } : null;
}

const fieldOf = (text: string): Field | null =>
  text === '*' || text === '?' ? ANY : (stepOf(text) ?? rangeOf(text) ?? listOf(text));

function minutesWithin(minute: Field): string | null {
  if (minute.kind === 'any') return 'every minute';
  if (minute.kind === 'every') return `every ${minute.step} minutes`;
  return minute.kind === 'list' ? `every hour at minute ${and(minute.values.map(String))}` : null;
}

function timesOfDay(minutes: number[], hours: number[]): string | null {
  const times = hours.flatMap((hour) => minutes.map((minute) => `${pad(hour)}:${pad(minute)}`));
  return times.length > 6 ? null : `at ${and(times)}`;
}

/** On the hour, `every hour` says it shorter than `at minute 0 of the hour`. */
const isOnTheHour = (minute: Field): boolean => minute.kind === 'list' && minute.values.join() === '0';

function timeWords(minute: Field, hour: Field): string | null {
  if (hour.kind === 'list' && minute.kind === 'list') return timesOfDay(minute.values, hour.values);
  const sharp = isOnTheHour(minute);
  const often = sharp ? 'every hour' : minutesWithin(minute);
  if (often === null) return null;
  switch (hour.kind) {
    case 'any':
      return often;
    case 'every':
      return sharp ? `every ${hour.step} hours` : `${often}, every ${hour.step} hours`;
    case 'range':
      return `${often} from ${pad(hour.from)}:00 to ${pad(hour.to)}:${sharp ? '00' : '59'}`;
    case 'list':
      return `${often} in hour ${and(hour.values.map(pad))}`;
    default:
      return hour satisfies never;
  }
}

function named(field: Field, name: (n: number) => string): string | null {
  if (field.kind === 'list') return and(field.values.map(name));
  return field.kind === 'range' ? `${name(field.from)} to ${name(field.to)}` : null;
}

/** The days on which it fires; '' for every day, null for a form without short words. */
function dayWords(date: Field, month: Field, day: Field): string | null {
  const parts: (string | null)[] = [];
  if (day.kind !== 'any') parts.push(named(day, (n) => DAYS[n] ?? String(n)));
  if (date.kind === 'every') parts.push(`every ${date.step} days`);
  else if (date.kind !== 'any') {
    const dates = named(date, String);
    parts.push(dates === null ? null : `day ${dates} of the month`);
  }
  const months = month.kind === 'any' ? '' : named(month, (n) => MONTHS[n - 1] ?? String(n));
  if (months === null || parts.includes(null)) return null;
  const days = parts.join(' or ');
  return months === '' ? days : `${days === '' ? 'every day' : days} in ${months}`;
}

/** A cron line of five fields in words, or null where words would be longer than they help. */
export function cronWords(cron: string): string | null {
  const fields = cron.trim().split(/\s+/).map(fieldOf);
  if (fields.length !== 5 || fields.includes(null)) return null;
  const [minute, hour, date, month, day] = fields as [Field, Field, Field, Field, Field];
  const time = timeWords(minute, hour);
  const days = dayWords(date, month, day);
  if (time === null || days === null) return null;
  const often = time.startsWith('every');
  const text = days === '' ? (often ? time : `every day ${time}`) : often ? `${time}, ${days}` : `${days} ${time}`;
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}
