/** Pages are made on the server. This fetches one again and puts what changed into the parts marked `data-live`. */

const openFolds = (part) => new Set([...part.querySelectorAll('details')].flatMap((fold, i) => (fold.open ? [i] : [])));

/** What somebody typed and has not sent is theirs: the part waits. */
const isTouched = ({ value, defaultValue, options }) =>
  options ? [...options].some((option) => option.selected !== option.defaultSelected) : value !== defaultValue;
const hasUnsent = (part) => [...part.querySelectorAll('[data-decision-form] :is(input, textarea, select)')].some(isTouched);

function replacePart(part, fresh) {
  if (part.innerHTML === fresh.innerHTML || hasUnsent(part)) return;
  const busy = part.contains(document.activeElement) ? document.activeElement : null;
  if (busy?.matches('textarea, input, select')) return;
  const focusHref = busy?.closest('a')?.getAttribute('href');
  const sameStep = part.querySelector('h2')?.textContent === fresh.querySelector('h2')?.textContent;
  const folds = sameStep ? openFolds(part) : null;
  const scrolled = [...part.querySelectorAll('[data-keep-scroll]')].map((box) => box.scrollLeft);
  const count = part.querySelectorAll('details').length;
  part.replaceChildren(...fresh.childNodes);
  for (const [i, box] of part.querySelectorAll('[data-keep-scroll]').entries()) box.scrollLeft = scrolled[i] ?? 0;
  const after = part.querySelectorAll('details');
  if (folds && after.length === count) for (const [i, fold] of after.entries()) fold.open = folds.has(i);
  if (focusHref) part.querySelector(`a[href="${CSS.escape(focusHref)}"]`)?.focus({ preventScroll: true });
}

/** Takes over the live parts of a page's HTML; true when it was a page of ours. */
export function takeOver(html) {
  const fresh = new DOMParser().parseFromString(html, 'text/html');
  let found = false;
  for (const part of document.querySelectorAll('[data-live]')) {
    const other = fresh.getElementById(part.id);
    if (!other) continue;
    found = true;
    replacePart(part, other);
  }
  document.title = fresh.title;
  document.dispatchEvent(new CustomEvent('page:changed'));
  return found;
}

let youngest = 0;
/**
 * Fetches an address and takes over its live parts; goes there properly when that does not work. Of several that are under
 * way the youngest counts: what was asked for before it may be older, or of another address.
 */
export async function load(url, options = {}) {
  const asked = ++youngest;
  const response = await fetch(url, { headers: { accept: 'text/html' }, ...options });
  if (response.redirected && new URL(response.url).pathname === '/ui/login') location.assign(response.url);
  if (!response.ok) throw new Error(`answered ${response.status}`);
  const html = await response.text();
  if (asked === youngest && !takeOver(html)) location.assign(response.url);
  return response.url;
}

let timer;
/** Says something for a moment, also to screen readers. */
export function toast(text) {
  const box = document.querySelector('[data-toast]');
  if (!box) return;
  box.textContent = text;
  box.classList.add('is-shown');
  clearTimeout(timer);
  timer = setTimeout(() => box.classList.remove('is-shown'), 3000);
}
