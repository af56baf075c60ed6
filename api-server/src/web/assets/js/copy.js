import { toast } from './page.js';

/** A folded JSON tree as the text that it came from; null where a part of it was left out. */
function jsonOf(node) {
  if (node.querySelector('.json-body > .note, .json-leaf > .note')) return null;
  return JSON.stringify(valueOf(node), null, 2);
}

function valueOf(node) {
  if (node.matches('details')) {
    const children = [...node.querySelector('.json-body').children];
    const isList = /item/.test(node.querySelector('summary > .note').textContent);
    if (isList) return children.map(valueOf);
    return Object.fromEntries(children.map((child) => [keyOf(child), valueOf(child)]));
  }
  const leaf = node.querySelector('[class^="json-"]:not(.json-key)');
  const text = leaf.textContent;
  return leaf.className === 'json-string' ? text : JSON.parse(text);
}

const keyOf = (node) => (node.matches('details') ? node.querySelector('summary > .json-key') : node.querySelector('.json-key')).textContent;

/** What a button copies: the text that its surroundings mark, or every line of a definition. */
function textFor(button) {
  if (button.copies) return button.copies();
  const scope = button.closest('[data-copy-scope]') ?? button.parentElement;
  return [...scope.querySelectorAll('[data-copy-text], .yaml td:last-child')].map((node) => node.textContent).join('\n');
}

async function write(text) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  // Without TLS, and not on this machine, a browser has no clipboard for scripts.
  const field = Object.assign(document.createElement('textarea'), { value: text });
  document.body.append(field);
  field.select();
  document.execCommand('copy');
  field.remove();
}

function addButton(place, what, copies) {
  if (place.querySelector(':scope > .copy-beside')) return;
  const button = document.createElement('button');
  Object.assign(button, { type: 'button', className: 'icon-button copy-beside', title: `Copy ${what}`, copies });
  button.setAttribute('aria-label', `Copy ${what}`);
  button.dataset.copy = '';
  button.innerHTML = '<svg class="icon" width="16" height="16" aria-hidden="true"><use href="#i-copy"/></svg>';
  place.prepend(button);
}

/** A part of a definition would be pasted as if it were the whole. */
const isCut = (button) => button.closest('[data-copy-scope]')?.querySelector('.yaml .is-cut') != null;

/** Ids, prompts and outputs get a button; those that a template made are shown. */
function offer() {
  for (const button of document.querySelectorAll('[data-copy][hidden]')) button.hidden = isCut(button);
  for (const id of document.querySelectorAll('.crumbs .mono')) addButton(id, 'the id', () => id.textContent);
  for (const text of document.querySelectorAll('pre.text, pre.raw-body')) {
    if (text.textContent.trim() !== '') addButton(text, 'this text', () => text.textContent);
  }
  for (const tree of document.querySelectorAll('.json-root')) {
    const root = tree.querySelector(':scope > details');
    if (root && jsonOf(root) !== null) addButton(tree, 'as JSON', () => jsonOf(root));
  }
}

export function watchCopies() {
  document.addEventListener('click', async (event) => {
    const button = event.target.closest?.('[data-copy]');
    if (!button) return;
    event.preventDefault();
    await write(textFor(button));
    toast('Copied');
  });
  document.addEventListener('fresh', offer);
  offer();
}
