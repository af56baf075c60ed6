import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createRender } from './render.ts';

function templates(files: Record<string, string>) {
  const dir = mkdtempSync(join(tmpdir(), 'templates-'));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, name)), { recursive: true });
    writeFileSync(join(dir, name), text);
  }
  return dir;
}

test.each([
  ['a value', '{{gone}}'],
  ['a condition', '{{#if gone}}yes{{/if}}'],
  ['a list', '{{#each gone}}{{this}}{{/each}}'],
  ['a context', '{{#with gone}}yes{{/with}}'],
  ['what a partial shows', '{{> part gone}}'],
  ['a field of a field', '{{#with here}}{{gone}}{{/with}}'],
])('%s that the view lacks is an error that names template and field', (_what, source) => {
  const render = createRender(templates({ 'runs/list.hbs': source, 'layout/_part.hbs': 'x' }));
  expect(() => render('list', { here: {} })).toThrow(/template runs\/list\.hbs: "gone" not defined/);
});

test('a partial that asks for too much is named itself', () => {
  const render = createRender(templates({ 'a/page.hbs': '{{> part}}', 'b/_part.hbs': '\n{{gone}}' }));
  expect(() => render('page', {})).toThrow(/template b\/_part\.hbs: "gone" not defined .* 2:2/);
});

test('what a view says is nothing shows nothing', () => {
  const render = createRender(templates({ 'page.hbs': '<p>{{none}}{{#if none}}yes{{else}}no{{/if}}</p>' }));
  expect(render('page', { none: null })).toBe('<p>no</p>');
});

test('two templates of one name are refused at the start', () => {
  const dir = templates({ 'a/page.hbs': '1', 'b/page.hbs': '2' });
  expect(() => createRender(dir)).toThrow(/two templates are called page/);
});
