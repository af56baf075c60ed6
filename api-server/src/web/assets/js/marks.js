import { refreshRow } from './live.js';
import { load, toast } from './page.js';

const WITHDRAW = 'withdraw';
const said = (outcome) => (outcome === WITHDRAW ? 'The mark is withdrawn' : `Marked ${outcome}`);

/** A mark that is stored is answered with a redirect. */
async function send(action, fields) {
  const body = new URLSearchParams(fields);
  const answer = await fetch(action, { method: 'POST', body, redirect: 'manual' }).catch(() => null);
  if (answer?.type === 'opaqueredirect') return true;
  toast(`The mark was not stored. ${answer?.status === 403 ? 'Your token may only look, or this page is of an earlier session.' : 'Try again.'}`);
  return false;
}

/** Stores a mark, shows it, and offers to go back to what was there before. */
async function store({ action, fields, outcome, before, show, about = '' }) {
  if (!(await send(action, { ...fields, outcome }))) return;
  await show().catch(() => undefined);
  toast(`${said(outcome)}${about}`, async () => {
    if (!(await send(action, { ...fields, ...before }))) return;
    await show().catch(() => undefined);
    toast(`Undone: ${said(before.outcome)}`);
  });
}

/** The mark of a form, by one of its buttons. */
export function markForm(form, button) {
  const notes = form.querySelector('textarea');
  notes?.blur();
  return store({
    action: form.action,
    fields: Object.fromEntries(new FormData(form)),
    outcome: button.value,
    before: { outcome: form.querySelector('[aria-pressed="true"]')?.value ?? WITHDRAW, notes: notes?.defaultValue ?? '' },
    show: () => load(location.href),
  });
}

/** The mark of a row of a list. */
export function markRow(row, outcome, leave) {
  const csrf = document.querySelector('[data-csrf]')?.value;
  if (!csrf) return;
  const queue = row.closest('[data-marking]');
  return store({
    action: row.dataset.mark,
    fields: { _csrf: csrf, ...(row.dataset.step && { step: row.dataset.step }) },
    outcome,
    before: { outcome: row.dataset.outcome || WITHDRAW },
    show: () => {
      if (!queue) return refreshRow(row.id);
      leave(row);
      return load(location.href);
    },
    about: `: ${row.querySelector('.row-link').textContent.slice(0, 60)}`,
  });
}
