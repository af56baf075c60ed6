import { describe, expect, test, vi } from 'vitest';
import { createTemplates } from '../runs/prompt/templates.ts';
import { MAX_TEXT, MAX_TEXT_BYTES, templateText } from './compose.ts';
import type { Segment } from './message.ts';

const compute = { inThread: () => Promise.reject(new Error('no thread was expected')), isBarred: () => false };
const templates = createTemplates({ sandbox: true, compute });
const asIs = (text: string) => text;

function compose(source: string, values: Record<string, unknown>, mask = asIs): Segment[] {
  const composed = templateText(source, { templates, values, mask });
  if (!composed.ok) throw new Error(composed.msg);
  return composed.text;
}
const bytes = (text: Segment[]) => Buffer.byteLength(JSON.stringify(text));
const many = (text: string, count = 6_000) => ({ many: Array.from({ length: count }, () => text) });

test('of a text of many pieces only what is kept is searched for secrets', () => {
  const mask = vi.fn<(text: string) => string>(asIs);
  const kept = compose('{{#each many}}{{this}},{{/each}}', many('said'), mask);
  expect(mask).toHaveBeenCalledTimes(kept.length);
  expect(kept.length).toBeLessThan(3_000);
});

test('pieces of one kind are one, also where a secret lies across them', () => {
  const mask = (text: string) => text.replaceAll('hunter22', '***');
  const source = 'He said {{#each many}}{{this}}{{/each}}{{last}}.';
  expect(compose(source, { many: ['I am hun', 'ter', '22'], last: '!' }, mask)).toEqual([
    { kind: 'author', text: 'He said ' },
    { kind: 'value', text: 'I am ***!' },
    { kind: 'author', text: '.' },
  ]);
});

describe('what is stored of a text', () => {
  test.each([
    ['thousands of pieces', '{{#each many}}{{this}},{{/each}}', many('a')],
    ['characters that JSON writes in six', '{{#each many}}{{this}}{{/each}}', many('\u0001\u0001')],
    ['one long value after a word', 'x{{#each many}}{{this}}{{/each}}y', many('\u0001\u00012')],
  ])('of %s has its bound, and says that it is cut', (_, source, values) => {
    const text = compose(source, values);
    expect(text.at(-1)?.text).toMatch(/…$/);
    expect(bytes(text)).toBeLessThanOrEqual(MAX_TEXT_BYTES);
    expect(bytes(text)).toBeGreaterThan(MAX_TEXT_BYTES - 100);
  });

  test('of 20,000 characters of any script is all of them', () => {
    const said = '重'.repeat(MAX_TEXT);
    expect(compose('{{said}}', { said })).toEqual([{ kind: 'value', text: said }]);
    expect(compose('{{said}}', { said: `${said}重` })[0]?.text).toBe(`${said.slice(1)}…`);
  });
});
