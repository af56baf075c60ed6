import { markForm } from './marks.js';
import { load, toast } from './page.js';

const NEXT = { system: 'light', light: 'dark', dark: 'system' };
const SAID = { system: 'Theme follows the system', light: 'Light theme', dark: 'Dark theme' };

async function changeTheme(form, button) {
  const theme = button.value;
  const body = new URLSearchParams(new FormData(form));
  body.set('theme', theme);
  document.documentElement.dataset.theme = theme;
  button.value = NEXT[theme];
  button.title = `${SAID[theme]}. Change to ${NEXT[theme]}`;
  button.setAttribute('aria-label', button.title);
  toast(SAID[theme]);
  await fetch(form.action, { method: 'POST', body, redirect: 'manual' });
}

const PREVIEW_MS = 350;
let previewTimer;

/** What a form would do, in the live parts beside its fields. */
function preview(form) {
  clearTimeout(previewTimer);
  previewTimer = setTimeout(() => {
    const body = new URLSearchParams(new FormData(form));
    body.set('act', 'preview');
    load(form.action, { method: 'POST', body }).catch(() => undefined);
  }, PREVIEW_MS);
}

/** Sends a form and takes over what changed but the form's own fields. */
async function sendForPart(form, button) {
  const body = new URLSearchParams(new FormData(form, button));
  body.set('part', form.dataset.part);
  try {
    await load(form.action, { method: 'POST', body });
    document.getElementById(form.dataset.part)?.scrollIntoView({ block: 'nearest' });
  } catch {
    delete form.dataset.part;
    form.requestSubmit(button);
  }
}

/** Forms work by themselves; here they only spare the full page. */
export function watchForms() {
  document.addEventListener('submit', (event) => {
    const form = event.target;
    const button = event.submitter;
    if (form.matches('[data-theme-form]') && button) {
      event.preventDefault();
      void changeTheme(form, button);
    } else if (form.matches('[data-mark-form]') && button) {
      event.preventDefault();
      void markForm(form, button);
    } else if (form.matches('[data-part]') && button) {
      event.preventDefault();
      void sendForPart(form, button);
    } else if (form.matches('[data-auto-submit]')) {
      for (const field of form.elements) if (field.name && field.value === '') field.disabled = true;
    }
  });
  addEventListener('pageshow', () => {
    for (const field of document.querySelectorAll('[data-auto-submit] :disabled')) field.disabled = false;
  });
  document.addEventListener('input', (event) => {
    const form = event.target.closest?.('[data-preview]');
    if (form) preview(form);
  });
  document.addEventListener('change', (event) => {
    const form = event.target.closest?.('[data-auto-submit]');
    if (form && event.target.matches('select') && !event.target.closest('[data-apply]')) form.requestSubmit();
  });
}
