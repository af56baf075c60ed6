import { expect, test } from 'vitest';
import { approvalLine } from '../fixtures/approvals.ts';
import { pagesWith } from '../fixtures/pages-with.ts';
import { inputTree } from './input-tree.ts';

const INPUT = {
  namespace: 'shop',
  manifest: '- name: VAR_0\n  value: "0"\n',
  replicas: 2,
  force: null,
  'a: b': ['2', []],
};

const asking = (input: unknown) =>
  approvalLine({
    kind: 'tool',
    step_name: 'act',
    tool: { agent: 'worker', server: 'kube', tool: 'apply', input, input_sha256: 'c540', reason: null },
  });
const pageOf = async (input: unknown) => {
  const { get } = await pagesWith({ approvals: [asking(input)] });
  return (await get('/ui/approvals')).body;
};
const shown = (page: string) => /<div class="ask-input"[^]*?<\/div>\n<details/.exec(page)?.[0] ?? '';

test('an input is asked about with its own line breaks, and its exact JSON is folded under it', async () => {
  const page = await pageOf(INPUT);
  const tree = shown(page);
  expect(tree).toContain('<div>- name: VAR_0</div><div>  value: &quot;0&quot;</div><div></div>');
  expect(tree).toContain('<span class="json-number">2</span>');
  expect(tree).toMatch(/json-key">force<\/span>\n+<span class="json-word">null/);
  expect(page).toMatch(
    /<summary>[^]*?Exact JSON<\/summary>\n<pre class="text" tabindex="0">\{\n {2}&quot;namespace&quot;/,
  );
  expect(page).toContain('value="approve"');
});

test('names that could be read as another name or value are JSON, and places of a list are no names', () => {
  const names = (input: object) => inputTree(input)?.root.children.map(({ key }) => key);
  expect(names({ ok: 1, 'a: b': 1, '': 1, '[0]': 1, 'x\u202E': 1 })).toEqual([
    'ok',
    '"a: b"',
    '""',
    '"[0]"',
    '"x\\u202e"',
  ]);
  expect(names(['a', 'b'])).toEqual(['[0]', '[1]']);
});

test('a text that is no text of an input, a number and an empty list differ', () => {
  const tree = inputTree(['2', 2, true, null, [], {}, '']);
  expect(tree?.root.children.map(({ kind, lines, note }) => [kind, lines, note])).toEqual([
    ['string', [[{ text: '2', escape: false }]], ''],
    ['number', null, '2'],
    ['word', null, 'true'],
    ['word', null, 'null'],
    ['array', null, '[]'],
    ['object', null, '{}'],
    ['string', [[]], ''],
  ]);
});

test.each([
  ['long', { text: 'x'.repeat(90_000) }],
  ['of many lines', { text: '\n'.repeat(10_000) }],
  ['of many escapes', { text: 'a\u200B'.repeat(10_000) }],
  ['of many values', Array(1_000).fill(1)],
  ['deep', [[[[[[[[[1]]]]]]]]]],
])('an input that is %s is shown as its JSON, whole', async (_, input) => {
  expect(inputTree(input)).toBeNull();
  const { get } = await pagesWith({ approvals: [asking(input)] });
  const page = (await get(`/ui/approvals/${asking(input).id}`)).body;
  expect(page).not.toContain('Exact JSON');
  expect(page).toContain('<pre class="text">');
  expect(page).toContain('value="approve"');
});

test('the page of a question counts the markup of its rows', async () => {
  const input = { text: '\n'.repeat(2_000) };
  const approvals = Array.from({ length: 30 }, (_, at) => ({ ...asking(input), id: `call${at}` }));
  const { get } = await pagesWith({ approvals });
  const page = (await get('/ui/approvals')).body;
  expect(page.match(/class="ask-input"/g)?.length).toBeGreaterThan(1);
  expect(page.length).toBeLessThan(200_000);
});
