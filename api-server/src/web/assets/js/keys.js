import { focusActions, pickFocused } from './picks.js';
import { markRow } from './marks.js';
import { undo } from './page.js';

const OUTCOMES = { y: 'correct', n: 'incorrect', p: 'partial' };
const rowLinks = () => [...document.querySelectorAll('[data-row] .row-link')];

function walk(step) {
  const links = rowLinks();
  if (links.length === 0) return;
  const at = links.indexOf(document.activeElement?.closest('[data-row]')?.querySelector('.row-link'));
  const next = at === -1 ? (step > 0 ? 0 : links.length - 1) : Math.min(Math.max(at + step, 0), links.length - 1);
  links[next].focus();
  links[next].closest('[data-row]').scrollIntoView({ block: 'nearest' });
}

/** On a run the keys press its buttons; on the list they mark the row that has the focus. */
function mark(outcome) {
  const form = document.querySelector('[data-mark-form][data-keys]');
  if (form) return form.querySelector(`button[value="${outcome}"]`).click();
  const row = document.activeElement?.closest('[data-row][data-mark]');
  if (row) void markRow(row, outcome, focusNext);
}

/** A marked answer leaves the queue; the focus goes on to the one after it. */
function focusNext(row) {
  const links = rowLinks();
  const at = links.indexOf(row.querySelector('.row-link'));
  if (at !== -1) (links[at + 1] ?? links[at - 1])?.focus();
}

function focusSearch() {
  const field = document.querySelector('[data-search-here]') ?? document.querySelector('[data-search]');
  if (!field?.offsetParent) return location.assign('/ui/runs');
  field.focus();
  field.select();
}

/** `/` searches, `j k` walk rows, `x` ticks one, `a` goes to what can be done with them, `y n p` mark, `u` undoes a mark; nothing while somebody types. */
export function watchKeys() {
  document.addEventListener('keydown', (event) => {
    const typing = event.target.closest?.('input:not([type=checkbox]), textarea, select, [contenteditable]');
    if (event.key === 'Escape' && typing) return typing.blur();
    if (document.querySelector('dialog[open]')) return;
    if (typing || event.metaKey || event.ctrlKey || event.altKey) return;
    if (event.key === '/') {
      event.preventDefault();
      focusSearch();
    } else if (event.key === 'j' || event.key === 'k') walk(event.key === 'j' ? 1 : -1);
    else if (event.key === 'x') pickFocused();
    else if (event.key === 'a') focusActions();
    else if (event.key === 'u') undo();
    else if (event.key in OUTCOMES) mark(OUTCOMES[event.key]);
  });
}
