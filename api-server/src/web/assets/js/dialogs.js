import { undo } from './page.js';

const LATER_MS = 120;

/** The options of the palette; the chosen one is announced through the field. */
const optionsIn = (list) => [...list.querySelectorAll('a[role="option"]')];

function choose(field, option) {
  for (const other of field.list.querySelectorAll('[aria-selected="true"]')) other.setAttribute('aria-selected', 'false');
  option?.setAttribute('aria-selected', 'true');
  option?.scrollIntoView({ block: 'nearest' });
  if (option) field.input.setAttribute('aria-activedescendant', option.id);
  else field.input.removeAttribute('aria-activedescendant');
}

function step(field, by) {
  const options = optionsIn(field.list);
  const at = options.findIndex((option) => option.getAttribute('aria-selected') === 'true');
  choose(field, options[(at + by + options.length) % options.length]);
}

/** Asks for what the field says; of several answers the youngest counts. */
function searchIn(field) {
  let youngest = 0;
  let timer;
  const ask = async () => {
    const asked = ++youngest;
    const response = await fetch(`${field.input.dataset.goto}?${new URLSearchParams({ q: field.input.value })}`).catch(() => null);
    if (asked !== youngest || response === null) return;
    if (response.redirected) return location.assign(response.url);
    if (!response.ok) return;
    const fresh = new DOMParser().parseFromString(await response.text(), 'text/html');
    if (asked !== youngest) return;
    field.list.replaceChildren(...fresh.body.children);
    choose(field, optionsIn(field.list)[0]);
  };
  return {
    now: ask,
    soon: () => {
      clearTimeout(timer);
      timer = setTimeout(ask, LATER_MS);
    },
  };
}

/** The palette: any page, pipeline, step, agent or run, without leaving this page before one is chosen. */
function watchPalette(dialog) {
  const field = { input: dialog.querySelector('[data-goto]'), list: dialog.querySelector('[role="listbox"]') };
  const search = searchIn(field);
  field.input.addEventListener('input', search.soon);
  field.input.addEventListener('keydown', (event) => {
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      event.preventDefault();
      step(field, event.key === 'ArrowDown' ? 1 : -1);
    } else if (event.key === 'Enter') {
      event.preventDefault();
      field.list.querySelector('a[aria-selected="true"]')?.click();
    }
  });
  dialog.addEventListener('opened', () => {
    field.input.value = '';
    void search.now();
  });
}

function open(dialog) {
  if (dialog.open) return;
  for (const other of document.querySelectorAll('dialog[open]')) other.close();
  dialog.showModal();
  dialog.dispatchEvent(new CustomEvent('opened'));
}

/** Ctrl K opens the palette, `?` the keys; a click beside a dialog closes it. */
export function watchDialogs() {
  const palette = document.getElementById('goto');
  const keys = document.getElementById('keys');
  if (!palette || !keys) return;
  watchPalette(palette);
  document.addEventListener('keydown', (event) => {
    const typing = event.target.closest?.('input, textarea, select, [contenteditable]');
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k') {
      event.preventDefault();
      open(palette);
    } else if (event.key === '?' && !typing) open(keys);
  });
  document.addEventListener('click', (event) => {
    if (event.target.closest?.('[data-undo]')) return undo();
    const opener = event.target.closest?.('[data-opens]');
    if (opener) open(document.getElementById(opener.dataset.opens));
    else if (event.target.closest?.('[data-closes]') || event.target.matches?.('dialog')) event.target.closest('dialog').close();
  });
}
