import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cpuTimeOf } from './cpu-time.fixture.ts';
import { compileTemplate, templatePaths } from './template.ts';
import type { Rendered } from './template-model.ts';

const context = {
  summary: 'Errors <b>& more</b>',
  labels: { service: 'checkout', team: null, zero: 0 },
  vars: { dashboard: 'red', inner: '{{labels.service}}' },
  steps: { 'list-services': { output: { services: ['a', 'b'] }, summary: 'two' }, metrics: { summary: '{{summary}}' } },
  fan_out: { index: 1, total: 2 },
  empty: [],
  text: '',
};

function render(source: string, data: Record<string, unknown> = context): Rendered {
  const compiled = compileTemplate(source, { sandbox: true });
  if (!compiled.ok) throw new Error(compiled.msg);
  return compiled.template.render(data);
}

test.each<[string, string]>([
  ['plain', 'plain'],
  ['', ''],
  ['{{summary}}', 'Errors <b>& more</b>'],
  ['{{{summary}}}', 'Errors <b>& more</b>'],
  ['{{labels.service}}/{{vars.dashboard}}', 'checkout/red'],
  ['{{labels.team}}|', '|'],
  ['{{steps.list-services.summary}}', 'two'],
  ['{{steps.list_services.summary}}', 'two'],
  ['{{steps.[list-services].summary}}', 'two'],
  ['{{steps.list_services.output}}', '{"services":["a","b"]}'],
  ['{{steps.list_services.output.services.[1]}}', 'b'],
  ['{{steps.metrics.summary}} {{vars.inner}}', '{{summary}} {{labels.service}}'],
  ['{{fan_out.index}} of {{fan_out.total}}', '1 of 2'],
  ['{{labels.zero}}', '0'],
  ['{{"literal"}} {{true}}', 'literal true'],
  ['{{#if labels.service}}yes{{else}}no{{/if}}', 'yes'],
  ['{{#if nothing}}a{{else if labels.zero}}b{{else}}c{{/if}}', 'c'],
  ['{{#unless empty}}none{{/unless}}', 'none'],
  ['{{#with labels}}{{service}} {{../summary}}{{/with}}', 'checkout Errors <b>& more</b>'],
  ['{{#with nothing}}a{{else}}b{{/with}}', 'b'],
  ['{{#each steps.list_services.output.services}}{{@index}}{{this}}{{#unless @last}},{{/unless}}{{/each}}', '0a,1b'],
  ['{{#each steps.list_services.output.services as |s i|}}{{i}}{{s}}{{@root.fan_out.total}}{{/each}}', '0a21b2'],
  ['{{#each labels}}{{@key}}={{.}} {{/each}}', 'service=checkout team= zero=0 '],
  ['{{#each empty}}a{{else}}b{{/each}}', 'b'],
  ['{{#each steps.list_services.output.services}}{{#each ../labels}}{{@../index}}{{/each}}{{/each}}', '000111'],
  ['a {{~summary~}} b', 'aErrors <b>& more</b>b'],
  ['{{! a comment }}{{!-- another --}}x', 'x'],
  ['\\{{summary}}', '{{summary}}'],
])('%j renders %j', (source, text) => {
  expect(render(source)).toMatchObject({ ok: true, text });
});

test('a value that is missing below something that was left out is named as that', () => {
  const branches = [{ output: { action: 'restart' } }, { output: { left_out: true } }];
  expect(
    render('{{#each branches}}{{output.action}}{{output.a.b}}{{#each this.output.list}}{{/each}}{{/each}}', {
      branches,
    }),
  ).toMatchObject({
    text: 'restart',
    missing: [
      'output.a.b',
      'this.output.list',
      'output.action (left out)',
      'output.a.b (left out)',
      'this.output.list (left out)',
    ],
  });
});

test('a missing value is empty and named once, a null and a tested one are not', () => {
  expect(
    render('{{nope}}{{labels.nope.deep}}{{nope}}{{labels.team}}{{#if gone}}{{/if}}{{#each lost}}{{/each}}'),
  ).toMatchObject({
    text: '',
    missing: ['nope', 'labels.nope.deep', 'lost'],
  });
});

test('nothing inherited can be read', () => {
  expect(render('{{toString}}{{labels.hasOwnProperty}}{{summary.length}}{{labels.valueOf}}')).toMatchObject({
    text: '',
  });
});

test.each([
  '{{> partial}}',
  '{{#> layout}}{{/layout}}',
  '{{#*inline "x"}}{{/inline}}',
  '{{* decorator}}',
  '{{lookup labels "service"}}',
  '{{log "x"}}',
  '{{unknown summary}}',
  '{{unknown key=summary}}',
  '{{#unknown summary}}{{/unknown}}',
  '{{#labels}}{{/labels}}',
  '{{#if (lookup labels "a")}}{{/if}}',
  '{{#if a b}}{{/if}}',
  '{{#if}}{{/if}}',
  '{{each}}',
  '{{helperMissing}}',
  '{{constructor}}',
  '{{labels.constructor.constructor}}',
  '{{labels.__proto__}}',
  '{{labels.[__proto__]}}',
  '{{labels.[constructor]}}',
  '{{this.prototype}}',
  '{{@root.constructor}}',
  '{{@level}}',
  '{{#each a as |constructor|}}{{constructor}}{{/each}}',
  '{{#with labels}}{{../constructor}}{{/with}}',
  '{{summary',
  '{{#if a}}',
  '{{/if}}',
  '{{a..b}}',
  'x'.repeat(70_000),
])('%.50j is refused at load', (source) => {
  expect(compileTemplate(source, { sandbox: true })).toMatchObject({ ok: false, msg: expect.any(String) as string });
});

test('a refused construct is named with its line', () => {
  expect(compileTemplate('a\nb {{> x}}', { sandbox: true })).toMatchObject({ loc: { line: 2, col: 3 } });
});

test('spans mark what came from values', () => {
  const rendered = render('A {{labels.service}} B {{vars.dashboard}}{{text}}');
  if (!rendered.ok) throw new Error('should render');
  expect(rendered.spans.map(([start, end]) => rendered.text.slice(start, end))).toEqual(['checkout', 'red']);
});

const items = Array.from({ length: 200 }, (_, index) => index);

test.each<[string, string]>([
  ['{{#each items}}{{#each ../items}}{{#each ../../items}}{{/each}}{{/each}}{{/each}}', 'too_many_iterations'],
  [`{{#each items}}{{#each ../items}}${'{{#if x}}{{/if}}'.repeat(200)}{{/each}}{{/each}}`, 'too_many_iterations'],
  [`{{#each items}}{{#each ../items}}${'long '.repeat(20)}{{/each}}{{/each}}`, 'too_large'],
  [`{{#each items}}{{#each ../items}}{{@root.a${'.a'.repeat(200)}}}{{/each}}{{/each}}`, 'too_many_iterations'],
])('%.60j is stopped', (source, reason) => {
  expect(cpuTimeOf(() => expect(render(source, { items })).toMatchObject({ ok: false, reason }))).toBeLessThan(1000);
});

const results = (count: number, output: object) =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`all-${at}`, { status: 'completed', output }]));
const manyKeys = Object.fromEntries(items.flatMap((a) => items.map((b) => [`key ${a} ${b}`, 1])));

test.each([
  ['names a step that there is not a thousand times', '{{#each steps}}{{@root.steps.no_such_step}}{{/each}}', 4000, {}],
  ['writes results that are larger than any text', '{{steps}}', 200, manyKeys],
])('a template that %s takes no time of others', (_, source, count, output) => {
  const compiled = compileTemplate(source, { sandbox: true });
  if (!compiled.ok) throw new Error(compiled.msg);
  const steps = results(count, output);
  expect(cpuTimeOf(() => void compiled.template.render({ steps }, 20_000))).toBeLessThan(500);
});

test('output over 1 MiB of bytes is refused even when it has fewer characters', () => {
  expect(render('{{text}}', { text: '€'.repeat(400_000) })).toMatchObject({ ok: false, reason: 'too_large' });
});

test('a value that cannot be written fails the rendering and nothing else', () => {
  expect(render('{{map}}', { map: { count: 1n } })).toMatchObject({ ok: false, reason: 'failed' });
});

test('without the sandbox the rest of Handlebars works, still on own properties and within bounds', () => {
  const trusted = (source: string, data: Record<string, unknown>): unknown => {
    const compiled = compileTemplate(source, { sandbox: false });
    return compiled.ok ? compiled.template.render(data) : compiled;
  };
  expect(trusted('{{lookup labels "a"}}', { labels: { a: '<x>' } })).toMatchObject({ ok: true, text: '<x>' });
  expect(trusted('{{lookup labels "constructor"}}', { labels: {} })).toMatchObject({ ok: true, text: '' });
  expect(
    trusted('{{#each items}}{{#each ../items}}{{#each ../../items}}{{lookup . "x"}}{{/each}}{{/each}}{{/each}}', {
      items,
    }),
  ).toMatchObject({ reason: 'too_many_iterations' });
  expect(trusted('{{unknown a}}', {})).toMatchObject({ ok: false, reason: 'failed' });
});

test.each([
  '{{#if a}}',
  '{{#each a as |x|}}',
  '{{^a}}',
  '{{~#if a}}',
  '{{#> a}}',
  '{{{{a}}}}',
  '{{#if a}}{{/if}}',
  '{{a}}',
  '{{',
  '{{!--',
  '{{a (',
  '{{#if (',
  '{{else}}',
  '\\\\{{a}}',
  '{{ #if a}}',
])('%j without end is answered in time', (piece) => {
  const source = piece.repeat(Math.floor(65_000 / piece.length));
  expect(cpuTimeOf(() => void compileTemplate(source, { sandbox: true }))).toBeLessThan(2000);
});

test.each([
  ['alone', '{{else if b}}'],
  ['in a stripped tag', '{{~ else if b}}'],
])('as many `else if` as a template holds, %s, are refused in time, and thirty are not', (_, piece) => {
  const chain = (count: number) => compileTemplate(`{{#if a}}${piece.repeat(count)}{{/if}}`, { sandbox: true });
  expect(cpuTimeOf(() => expect(chain(4000)).toMatchObject({ ok: false }))).toBeLessThan(1000);
  expect(chain(30)).toMatchObject({ ok: true });
});

test.each(['(b ', '(b c=', '("}}" ', "(b ')' ", '(b [)] '])(
  'calls %j as deep as a template holds are refused in time',
  (piece) => {
    const source = `{{!-- " --}}{{a ${piece.repeat(Math.floor(65_000 / piece.length))}`;
    for (const work of [() => compileTemplate(source, { sandbox: false }), () => templatePaths(source)])
      expect(cpuTimeOf(() => void work())).toBeLessThan(1000);
    expect(compileTemplate(source, { sandbox: true })).toMatchObject({ ok: false });
  },
);

test.each([
  ['a comment', '{{#if a}}{{!{{/if}}'],
  ['a string', '{{#if "{{/if}}"}}'],
  ['a text', '{{#if a}}\\{{/if}}'],
])('blocks that only %s seems to close are counted', (_, piece) => {
  expect(compileTemplate(`${piece.repeat(40)}${'{{/if}}'.repeat(40)}`, { sandbox: true })).toMatchObject({
    msg: expect.stringContaining('nested 32 deep'),
  });
});

test.each(['{{summary}} (a', '{{! ( }}', '{{"("}}', '\\{{(('])('%j is no call', (piece) => {
  const { ok, ...why } = compileTemplate(piece.repeat(500), { sandbox: false });
  expect(JSON.stringify(ok ? null : why)).not.toContain('nested');
});

test('thirty calls one in another are compiled without the sandbox', () => {
  const calls = `{{lookup ${'(lookup '.repeat(30)}a "b"${') "b"'.repeat(30)}}}`;
  expect(compileTemplate(calls, { sandbox: false })).toMatchObject({ ok: true });
});

test('any source compiles or is refused, and what compiles renders', () => {
  const piece = fc.constantFrom(
    '{{',
    '}}',
    '{{{',
    '}}}',
    '#if ',
    '#each ',
    '/if',
    '/each',
    'else',
    'this',
    '../',
    '@index',
    ' as |x|',
    '[',
    ']',
    'a',
    '.',
    '(',
    ')',
    '"',
    '~',
    '>',
    '!--',
    '--',
    '\\',
    ' ',
    '\n',
    '&',
    '*',
    '=',
    '{{a}}',
    '{{#if a}}',
    '{{/if}}',
    '{{#each l}}',
    '{{/each}}',
  );
  const source = fc.oneof(
    fc.string(),
    fc.array(piece, { maxLength: 20 }).map((parts) => parts.join('')),
  );
  fc.assert(
    fc.property(source, fc.dictionary(fc.string(), fc.jsonValue()), fc.boolean(), (text, data, sandbox) => {
      const compiled = compileTemplate(text, { sandbox });
      if (compiled.ok) expect(typeof compiled.template.render({ ...data, a: 1, l: [1, 2] }).ok).toBe('boolean');
    }),
    { numRuns: 500 },
  );
});

test('a value appears exactly as it is, whatever it holds', () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), (before, value) => {
      const quoted = before.replaceAll('{', '').replaceAll('\\', '');
      expect(render(`${quoted}{{summary}}`, { summary: value })).toMatchObject({ text: quoted + value });
    }),
  );
});
