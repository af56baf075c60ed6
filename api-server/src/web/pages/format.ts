/** Seconds between two ISO times; null where one is missing or the order is wrong by a clock step. */
export function secondsBetween(from: string | null, to: string | number | null): number | null {
  if (from === null || to === null) return null;
  const seconds = (new Date(to).getTime() - new Date(from).getTime()) / 1000;
  return Number.isFinite(seconds) ? Math.max(0, seconds) : null;
}

/** `450 ms`, `4.2 s`, `3 m 05 s`, `2 h 14 m`, `3 d 4 h`. */
export function duration(seconds: number | null): string {
  if (seconds === null) return '–';
  if (seconds < 0.9995) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 59.95) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  if (whole < 3600) return `${Math.floor(whole / 60)} m ${pad(whole % 60)} s`;
  if (whole < 86_400) return `${Math.floor(whole / 3600)} h ${pad(Math.floor((whole % 3600) / 60))} m`;
  return `${Math.floor(whole / 86_400)} d ${Math.floor((whole % 86_400) / 3600)} h`;
}

const pad = (n: number): string => String(n).padStart(2, '0');

const AGES: [limit: number, unit: number, suffix: string][] = [
  [60, 1, 's'],
  [3600, 60, 'm'],
  [86_400, 3600, 'h'],
  [604_800 * 2, 86_400, 'd'],
  [Number.POSITIVE_INFINITY, 604_800, 'w'],
];

/** Age in one unit (`42 s`, `5 m`, `3 h`, `6 d`, `9 w`), `now` under five seconds and for clocks that run ahead. */
export function age(iso: string, now: number): string {
  const seconds = Math.floor((now - new Date(iso).getTime()) / 1000);
  if (!Number.isFinite(seconds)) return '–';
  if (seconds < 5) return 'now';
  const [, unit, suffix] = AGES.find(([limit]) => seconds < limit) ?? [0, 604_800, 'w'];
  return `${Math.floor(seconds / unit)} ${suffix}`;
}

/** `5 m ago`, `just now`. */
export function ago(iso: string, now: number): string {
  const since = age(iso, now);
  return since === 'now' ? 'just now' : `${since} ago`;
}

/** The exact time for people: `2026-11-21 14:03:22 UTC`. */
export function exactTime(iso: string): string {
  const time = new Date(iso);
  return Number.isNaN(time.getTime()) ? iso : `${time.toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}

export const clock = (iso: string): string => exactTime(iso).slice(11, 19);

/** Thousands with a thin separator: `12 480`. */
export function count(n: number | null | undefined): string {
  return n === null || n === undefined ? '–' : String(n).replace(/\B(?=(\d{3})+$)/g, '\u202f');
}

/** A share as `76.3%`. */
export const percent = (share: number | null, digits = 1): string =>
  share === null ? '–' : `${(share * 100).toFixed(digits)}%`;

/** An amount with its currency; small amounts get more digits, so that they do not read as zero. */
export function money(amount: number, currency: string): string {
  const digits = amount !== 0 && Math.abs(amount) < 0.01 ? 4 : 2;
  const symbol = { USD: '$', EUR: '€', GBP: '£' }[currency];
  const text = amount.toFixed(digits).replace(/\B(?=(\d{3})+\.)/g, '\u202f');
  return symbol === undefined ? `${text} ${currency}` : `${symbol}${text}`;
}

/** A confidence with two digits; with three where two would show a miss as a pass, such as 0.749 against 0.75. */
export function score(value: number | null | undefined, threshold: number | null = null): string {
  if (value === null || value === undefined) return '–';
  const short = value.toFixed(2);
  if (threshold === null || value >= threshold || Number(short) < threshold) return short;
  return value.toFixed(3) === threshold.toFixed(3) ? `< ${threshold.toFixed(2)}` : value.toFixed(3);
}

/** At most `max` characters, never half a surrogate pair. */
export function shorten(text: string, max: number): string {
  const chars = [...text];
  return chars.length <= max ? text : `${chars.slice(0, max - 1).join('')}…`;
}

/** A message of the service as a sentence: `Pipeline "a" exists.` */
export const sentence = (text: string): string => `${text.slice(0, 1).toUpperCase()}${text.slice(1)}.`;

/** The beginning of a long hash, by which people tell two apart. */
export const hashStart = (hash: string): string => hash.slice(0, 12);
