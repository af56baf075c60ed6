/** Characters, as HTML, of all texts of a page; with the markup around them no page is larger than 500 KB. */
const MAX_CHARS = 350_000;
/** Texts are cut to the longest of these with which all fit. */
const LENGTHS = [20_000, 5_000, 1_000, 300];
/** Shown whole or not at all: who approves a call has to see all of it. */
const UNCUT = new Set(['approvals', 'waiting']);

const isPlain = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && [Object.prototype, null].includes(Object.getPrototypeOf(value));

/** The model of a page with its longest texts cut until the page has a bounded size, whatever is stored. */
export function fitModel<T extends object>(model: T): T {
  if (charsOf(model, Infinity) <= MAX_CHARS) return model;
  const length = LENGTHS.find((most) => charsOf(model, most) <= MAX_CHARS) ?? 0;
  return cut(model, length) as T;
}

function charsOf(value: unknown, most: number): number {
  if (typeof value === 'string') return Math.min(escapedLength(value), most);
  if (Array.isArray(value)) return value.reduce<number>((sum, item) => sum + charsOf(item, most), 0);
  if (!isPlain(value)) return 0;
  return Object.entries(value).reduce((sum, [key, item]) => sum + charsOf(item, UNCUT.has(key) ? Infinity : most), 0);
}

/** `"` becomes `&quot;`, the longest of them. */
const escapedLength = (text: string): number =>
  text.length < 50 ? text.length : text.length + 5 * (text.match(/[&<>"'`=]/g)?.length ?? 0);

function cut(value: unknown, most: number): unknown {
  if (typeof value === 'string') return cutText(value, most);
  if (Array.isArray(value)) return value.map((item) => cut(item, most));
  if (!isPlain(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, UNCUT.has(key) ? item : cut(item, most)]));
}

function cutText(text: string, most: number): string {
  if (escapedLength(text) <= Math.max(most, 50)) return text;
  const share = Math.floor((most * text.length) / escapedLength(text));
  return `${text.slice(0, share)}… (${text.length - share} characters more; the API has them all)`;
}
