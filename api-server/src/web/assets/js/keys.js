import { focusActions, pickFocused } from './picks.js';
import { load, toast } from './page.js';

const OUTCOMES = { y: 'correct', n: 'incorrect', p: 'partial' };
const rowLinks = () => [...document.querySelectorAll('[data-row] .row-link')];

function walk(step) {
  const links = rowLinks();
  if (links.length === 0) return;
  const at = links.indexOf(document.activeElement);
  const next = at === -1 ? (step > 0 ? 0 : links.length - 1) : Math.min(Math.max(at + step, 0), links.length - 1);
  links[next].focus();
  links[next].closest('[data-row]').scrollIntoView({ block: 'nearest' });
}

/** On a run the keys press its buttons; on the list they mark the row that has the focus. */
async function mark(outcome) {
  const form = document.querySelector('[data-mark-form][data-keys]');
  if (form) return form.querySelector(`button[value="${outcome}"]`).click();
  const row = document.activeElement?.closest('[data-row][data-mark]');
  const csrf = document.querySelector('[data-csrf]')?.value;
  if (!row || !csrf) return;
  const body = new URLSearchParams({ _csrf: csrf, outcome });
  if (row.dataset.step) body.set('step', row.dataset.step);
  const response = await fetch(row.dataset.mark, { method: 'POST', body, redirect: 'manual' });
  const stored = response.type === 'opaqueredirect' || response.ok;
  if (stored && row.closest('[data-marking]')) leaveQueue(row);
  toast(stored ? `Marked ${outcome}: ${row.querySelector('.row-link').textContent.slice(0, 60)}` : 'The mark was not stored: your token may only look.');
}

/** A marked answer leaves the queue; the focus goes on to the one after it. */
function leaveQueue(row) {
  const links = rowLinks();
  const at = links.indexOf(row.querySelector('.row-link'));
  (links[at + 1] ?? links[at - 1])?.focus();
  void load(location.href).catch(() => undefined);
}

function focusSearch() {
  const field = document.querySelector('[data-search-here]') ?? document.querySelector('[data-search]');
  if (!field?.offsetParent) return location.assign('/ui/runs');
  field.focus();
  field.select();
}

/** `/` searches, `j k` walk rows, `x` ticks one, `a` goes to what can be done with them, `y n p` mark; nothing while somebody types. */
export function watchKeys() {
  document.addEventListener('keydown', (event) => {
    const typing = event.target.closest?.('input, textarea, select, [contenteditable]');
    if (event.key === 'Escape' && typing) return typing.blur();
    if (document.querySelector('dialog[open]')) return;
    if (typing || event.metaKey || event.ctrlKey || event.altKey) return;
    if (event.key === '/') {
      event.preventDefault();
      focusSearch();
    } else if (event.key === 'j' || event.key === 'k') walk(event.key === 'j' ? 1 : -1);
    else if (event.key === 'x') pickFocused();
    else if (event.key === 'a') focusActions();
    else if (event.key in OUTCOMES) void mark(OUTCOMES[event.key]);
  });
}
