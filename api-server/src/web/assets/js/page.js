import { Idiomorph } from '../idiomorph.esm.js';

/** Pages are made on the server. This fetches one again and puts what changed into the parts marked `data-live`. */

const isTouched = ({ value, defaultValue, options }) =>
  options ? [...options].some((option) => option.selected !== option.defaultSelected) : value !== defaultValue;
/** What somebody typed into a decision and has not sent is theirs: its form stays as it is. */
const isUnsent = (form) => [...form.querySelectorAll(':is(input, textarea, select)')].some(isTouched);

const DECISION = '[data-decision-form]';
const unlessUnsent = (node) => !(node instanceof Element && [node, ...node.querySelectorAll(DECISION)].some((form) => form.matches(DECISION) && isUnsent(form)));

/** The open tab of a part; what the reader unfolded stays unfolded as long as it is the same. */
const shownIn = (part) => part.querySelector('.tabs [aria-current]')?.getAttribute('href');

/** Turns a part into its fresh state in place, so that focus, scroll and unfolded parts stay with the reader. */
export function morph(part, fresh) {
  const keepsFolds = shownIn(part) === shownIn(fresh);
  Idiomorph.morph(part, fresh, {
    ignoreActiveValue: true,
    callbacks: {
      beforeNodeMorphed: (node) => !(node instanceof Element && (node.matches('[data-pick]') || (node.matches(DECISION) && isUnsent(node)))),
      beforeNodeRemoved: unlessUnsent,
      beforeAttributeUpdated: (name, node) =>
        !(name === 'open' && node.localName === 'details' && keepsFolds) && !(name === 'hidden' && node.matches('[data-copy]')),
    },
  });
}

/** Takes over the live parts of a page's HTML; true when it was a page of ours. */
export function takeOver(html) {
  const fresh = new DOMParser().parseFromString(html, 'text/html');
  let found = false;
  for (const part of document.querySelectorAll('[data-live]')) {
    const other = fresh.getElementById(part.id);
    if (!other) continue;
    found = true;
    morph(part, other);
    part.dispatchEvent(new CustomEvent('fresh', { bubbles: true }));
  }
  document.title = fresh.title;
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
let takeBack = null;
/** Says something for a moment, also to screen readers; with `back`, offers to undo it. */
export function toast(text, back = null) {
  const box = document.querySelector('[data-toast]');
  if (!box) return;
  takeBack = back;
  box.querySelector('[data-toast-text]').textContent = text;
  box.querySelector('[data-undo]').hidden = back === null;
  box.classList.add('is-shown');
  clearTimeout(timer);
  timer = setTimeout(hideToast, back === null ? 3000 : 10_000);
}

function hideToast() {
  takeBack = null;
  const box = document.querySelector('[data-toast]');
  box.classList.remove('is-shown');
  box.querySelector('[data-undo]').hidden = true;
}

/** Undoes what the toast says, as long as it stands there. */
export function undo() {
  const back = takeBack;
  takeBack = null;
  back?.();
}
