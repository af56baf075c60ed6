/** Of a page without its frame. */
const MAX_BYTES = 175_000;
/** Characters, as HTML, of the texts of a model: no page shows all of them. */
const MAX_CHARS = 350_000;
/** A text may stand in two places of a page. */
const MOST_TRIES = 4;
/** Texts are cut to the longest of these with which all fit. */
const LENGTHS = [20_000, 10_000, 5_000, 2_500, 1_000, 500, 300, 200, 120];
/** Addresses of pages are bounded by themselves; cut they would lead nowhere. */
const ADDRESS = 2_000;
/** Shown whole or not at all: who approves a call has to see all of it, and what stands in a form is sent from there. */
const UNCUT = new Set(['approvals', 'waiting', 'form', 'draft']);

const isPlain = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && [Object.prototype, null].includes(Object.getPrototypeOf(value));

/** A page of bounded size, whatever is stored: where it is too large, with its longest texts cut. */
export function renderFitting<T extends object>(model: T, render: (model: T) => string): string {
  let budget = MAX_CHARS;
  for (let tried = 1; ; tried += 1) {
    const { fitted, length } = fitModel(model, budget);
    const html = render(fitted);
    const excess = Buffer.byteLength(html) - MAX_BYTES;
    if (excess <= 0 || tried === MOST_TRIES || length === LENGTHS.at(-1)) return html;
    budget = Math.max(0, charsOf(model, length) - excess);
  }
}

/** The model with its texts cut to the greatest length with which they have at most so many characters, as HTML. */
export function fitModel<T extends object>(model: T, most: number): { fitted: T; length: number } {
  if (charsOf(model, Infinity) <= most) return { fitted: model, length: Infinity };
  const length = LENGTHS.find((one) => charsOf(model, one) <= most) ?? LENGTHS.at(-1) ?? 0;
  return { fitted: cut(model, length) as T, length };
}

/** Of all texts of a model, cut to `most` each. */
export function charsOf(value: unknown, most: number): number {
  if (typeof value === 'string') return Math.min(escapedLength(value), most);
  if (Array.isArray(value)) return value.reduce<number>((sum, item) => sum + charsOf(item, most), 0);
  if (!isPlain(value)) return 0;
  return Object.entries(value).reduce((sum, [key, item]) => sum + charsOf(item, UNCUT.has(key) ? Infinity : most), 0);
}

/** `"` becomes `&quot;`, the longest of them. */
export const escapedLength = (text: string): number =>
  text.length < 50 ? text.length : text.length + 5 * (text.match(/[&<>"'`=]/g)?.length ?? 0);

function cut(value: unknown, most: number): unknown {
  if (typeof value === 'string') return cutText(value, value.startsWith('/ui/') ? Math.max(most, ADDRESS) : most);
  if (Array.isArray(value)) return value.map((item) => cut(item, most));
  if (!isPlain(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, UNCUT.has(key) ? item : cut(item, most)]));
}

function cutText(text: string, most: number): string {
  if (escapedLength(text) <= Math.max(most, 50)) return text;
  const share = Math.floor((most * text.length) / escapedLength(text));
  return `${text.slice(0, share)}… (${text.length - share} characters more; the API has them all)`;
}
