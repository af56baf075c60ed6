import { compileExpression } from '@signalbox/crds';
import { expect, test } from 'vitest';
import { readsOf, readValues } from './read-values.ts';
import { namesIn } from './run-values.ts';
import { createTemplates } from './templates.ts';

const VALUES = {
  severity: 'critical',
  items: [1, 2],
  metadata: { team: 'pay', list: [{ a: 1 }, { a: 2 }], word: 'team', text: 'a team' },
  steps: { look: { output: { action: 'wait' } } },
};

test.each([
  ['severity == "none"', { severity: 'critical' }],
  ['metadata.team == "pay"', { metadata: { team: 'pay' } }],
  ['metadata["team"] == "pay" && has(metadata.none)', { metadata: { team: 'pay' } }],
  ['metadata.list.all(m, m.a > 0 && m.a < items.size())', { metadata: { list: VALUES.metadata.list }, items: [1, 2] }],
  ['items[0] == 1', { items: [1, 2] }],
  ['metadata[metadata.word] == "pay"', { metadata: VALUES.metadata }],
  ['metadata.text.contains(metadata.word)', { metadata: { text: 'a team', word: 'team' } }],
  ['metadata.size() == 4 && metadata.team != ""', { metadata: VALUES.metadata }],
  ['metadata.none == 1', { metadata: {} }],
  ['steps.look.output.action == "wait"', { steps: VALUES.steps }],
  ['severity.none == 1', { severity: 'critical' }],
])('%s reads no more than it needs, and says the same', (source, read) => {
  const some = readValues(VALUES, readsOf(source));
  expect(some).toEqual(read);
  const compiled = compileExpression(source);
  if (!compiled.ok) throw new Error(compiled.msg);
  expect(compiled.expression.evaluate(some)).toEqual(compiled.expression.evaluate(VALUES));
});

test('an alert of 100,000 keys costs a condition that reads one of them no thread, and a text no copy of them', async () => {
  const metadata = Object.fromEntries(Array.from({ length: 100_000 }, (_, at) => [`key-${at}`, at]));
  const compute = { inThread: () => Promise.reject(new Error('in a thread')), isBarred: () => false };
  const templates = createTemplates({ sandbox: true, compute });
  const evaluated = await templates.evaluate('metadata["key-99999"] == 99999', { metadata }, { run: null, share: 'p' });
  expect(evaluated).toEqual({ ok: true, value: true });
  const names = namesIn(metadata);
  expect([Object.keys(names).length, names['key-999']]).toEqual([1000, 999]);
  expect(namesIn(metadata)).toBe(names);
});
