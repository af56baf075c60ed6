import fc from 'fast-check';
import { expect, test } from 'vitest';
import { resolveSet } from '../resolve/resolve-set.ts';
import { closestName } from './closest-name.ts';

const SCHEMA = '{type: object, properties: {ticket: {type: string}, action: {type: string}}}';
const ask = (name: string, prompt: string, more = '') =>
  `{name: ${name}, executor: gateway, agent: a, prompt_template: ${JSON.stringify(prompt)}${more}}`;

/** `triage` with a schema, a parallel group, a fan-out, then the steps given. */
const pipeline = (steps: string[], keys = '') => `
name: p
vars: {dashboard: checkout-red}
${keys}
steps:
  - ${ask('first-look', 'Alert: {{summary}}', `, output_schema: ${SCHEMA}`)}
  - {name: gather, parallel: {steps: [${ask('metrics', 'hi')}, ${ask('changes', 'hi')}]}}
  - {name: each, fan_out: {over: 'labels', as: service, step: {executor: gateway, agent: a, prompt_template: 'Check {{service}}'}}}
${steps.map((step) => `  - ${step}`).join('\n')}
`;

const warnings = (text: string) =>
  resolveSet({ pipelines: [{ file: 'p.yaml', text }], steps: [] }).problems.map(
    ({ severity, loc, msg }) => `${severity} ${loc.join('.')}: ${msg}`,
  );
const ofPrompt = (prompt: string) =>
  warnings(pipeline([ask('last', prompt)])).map((line) => line.slice(line.indexOf(': ') + 2));
const ofExpression = (when: string) =>
  warnings(pipeline([ask('last', 'hi', `, when: ${JSON.stringify(when)}`)])).map((line) =>
    line.slice(line.indexOf(': ') + 2),
  );

test('a prompt whose names all exist has no warning', () => {
  const prompt = `{{summary}} {{labels.service}} {{vars.dashboard}} {{region}} {{status}} {{metadata.anything}}
    {{steps.first_look.output.ticket}} {{steps.first-look.summary}} {{steps.metrics.trust}} {{steps.gather.output.branches}}
    {{#each steps.each.output.branches}}{{ticket}} {{sumary}} {{@root.summary}} {{../severity}}{{/each}}
    {{#with labels as |all|}}{{all.x}}{{/with}} {{run.id}} {{fan_out.index}} {{context.next}} {{now}}`;
  expect(ofPrompt(prompt)).toEqual([]);
});

test.each([
  ['{{sumary}}', '"sumary" is no known name; did you mean "summary"?'],
  ['{{lables.service}}', '"lables" is no known name; did you mean "labels"?'],
  ['{{#if sevrity}}x{{/if}}', '"sevrity" is no known name; did you mean "severity"?'],
  ['{{#each labels}}{{@root.sumary}}{{/each}}', '"sumary" is no known name; did you mean "summary"?'],
  ['{{#each labels}}{{../sumary}}{{/each}}', '"sumary" is no known name; did you mean "summary"?'],
  ['{{vars.dashbord}}', 'vars.dashbord: vars does not declare "dashbord"; did you mean "dashboard"?'],
  ['{{vars.x}}', 'vars.x: vars does not declare "x"'],
  [
    '{{steps.frist-look.summary}}',
    'steps.frist-look.summary: there is no step "frist-look"; did you mean "first-look"?',
  ],
  ['{{steps.zzz}}', 'steps.zzz: there is no step "zzz"'],
  ['{{steps.last.summary}}', 'steps.last.summary: a step cannot read its own result'],
  ['{{steps.first-look.sumary}}', 'steps.first-look.sumary: a step has no "sumary"; did you mean "summary"?'],
  [
    '{{steps.first_look.output.tiket}}',
    'steps.first_look.output.tiket: the output_schema has no "tiket"; did you mean "ticket"?',
  ],
])('the prompt %s warns: %s', (prompt, expected) => {
  expect(ofPrompt(prompt)).toEqual([expected]);
});

const NO_ITEMS = 'the output of a group has no "items", only "branches"';

test.each([
  ['{{steps.each.output.items}}', `steps.each.output.items: ${NO_ITEMS}`],
  ['{{#each steps.gather.output.items}}x{{/each}}', `steps.gather.output.items: ${NO_ITEMS}`],
  [
    '{{steps.each.output.branches.summary}}',
    'steps.each.output.branches.summary: "branches" is a list, each of its items has "summary"',
  ],
  [
    '{{steps.each.output.branches.[0].sumary}}',
    'steps.each.output.branches.0.sumary: a branch has no "sumary"; did you mean "summary"?',
  ],
])('the prompt %s of a group warns: %s', (prompt, expected) => {
  expect(ofPrompt(prompt)).toEqual([expected]);
});

test('what the output of a group has gives no warning', () => {
  const prompt = `{{steps.each.output.branches.[0].output.anything}} {{steps.each.output.branches.length}}
    {{#each steps.gather.output.branches}}{{name}} {{output.x}}{{/each}} {{steps.[each/0].output.anything}}`;
  expect(ofPrompt(prompt)).toEqual([]);
  expect(
    ofExpression(
      'steps.each.output.branches.all(b, b.trust > 0.5) && steps.each.output.branches[0].output.x == 1 && size(steps.gather.output.branches) > 1 && steps["each/0"].output.x == 1',
    ),
  ).toEqual([]);
  expect(ofExpression('steps.each.output.items.size() > 1')).toEqual([`steps.each.output.items: ${NO_ITEMS}`]);
});

test.each([
  ['steps["first-look"].output.action == "restart" && vars.dashboard != ""'],
  ['has(steps.metrics.output.anything) && labels.exists(sumary, sumary == "x")'],
  ['has(steps.first_look.output.later)'],
])('the expression %s has no warning', (when) => {
  expect(ofExpression(when)).toEqual([]);
});

test.each([
  ['steps.zzz.output.x == 1', 'steps.zzz.output.x: there is no step "zzz"'],
  ['has(steps.metric.output.x)', 'steps.metric.output.x: there is no step "metric"; did you mean "metrics"?'],
  ['sevrity == "critical"', '"sevrity" is no known name; did you mean "severity"?'],
  ['labels.exists(l, vars.zone == l)', 'vars.zone: vars does not declare "zone"'],
  [
    'steps["first-look"].output["tiket"] == "x"',
    'steps.first-look.output.tiket: the output_schema has no "tiket"; did you mean "ticket"?',
  ],
])('the expression %s warns: %s', (when, expected) => {
  expect(ofExpression(when)).toEqual([expected]);
});

test('a step that runs later, or at the same time, is named', () => {
  const later = '{name: early, executor: webhook, url: "https://x.example/{{steps.last.output.id}}"}';
  expect(warnings(pipeline([later, ask('last', 'hi')]))).toEqual([
    'warning steps.3.url: steps.last.output.id: step "last" runs later',
  ]);
  const group = `{name: pair, parallel: {steps: [${ask('left', '{{steps.right.summary}}')}, ${ask('right', 'hi')}]}}`;
  expect(warnings(pipeline([group]))).toEqual([
    'warning steps.3.parallel.steps.0.prompt_template: steps.right.summary: step "right" has no result yet',
  ]);
});

test('what only some places have is known there alone', () => {
  const checks = `, output_schema: ${SCHEMA}, deterministic_checks: [
    {type: shell, name: c, run: 'true', env: {T: '{{output.ticket}}'}, expect: 'exit_code == 0 && output.tiket != ""'}]`;
  expect(warnings(pipeline([ask('last', 'hi', checks)]))).toEqual([
    'warning steps.3.deterministic_checks.0.expect: output.tiket: the output_schema has no "tiket"; did you mean "ticket"?',
  ]);
  const hook =
    ', on_failure: {policy: continue, webhook: {url: "https://x.example/", payload: {m: "{{error.message}} {{steps.last.status}}"}}}';
  expect(warnings(pipeline([ask('last', 'hi', hook)]))).toEqual([]);
  const messages = 'notifications: {complete: [{channel: log, template: "{{steps.last.summary}} {{sumary}}"}]}';
  expect(warnings(pipeline([ask('last', 'hi')], messages))).toEqual([
    'warning notifications.complete.0.template: "sumary" is no known name; did you mean "summary"?',
  ]);
  expect(warnings(pipeline([], 'concurrency: {limit: 1, key: "{{steps.first-look.summary}}"}'))).toEqual([
    'warning concurrency.key: steps.first-look.summary: no step has a result here',
  ]);
});

test('of a library step the names are checked that do not depend on its pipeline', () => {
  const text =
    'name: s\nexecutor: gateway\nagent: a\nprompt_template: "{{sumary}} {{steps.any.summary}} {{vars.any}}"\n';
  expect(resolveSet({ pipelines: [], steps: [{ file: 's.yaml', text }] }).problems).toMatchObject([
    { severity: 'warning', kind: 'LibraryStep', reason: 'unknown_name', loc: ['prompt_template'] },
  ]);
});

test.each([
  ['steps', '{name: x, use: first-lok}', 'library step "first-lok" does not exist; did you mean "first-look"?'],
  [
    'pipelines',
    '{name: x, executor: pipeline, pipeline: othr}',
    'pipeline "othr" does not exist; did you mean "other"?',
  ],
  [
    'agents',
    ask('x', 'hi').replace('agent: a', 'agent: raeder'),
    'no agent "raeder" is defined here; did you mean "reader"? Available: reader.',
  ],
])('a name of the %s that is not there comes with the nearest one', (_, step, expected) => {
  const set = resolveSet({
    pipelines: [
      { file: 'p.yaml', text: `name: p\nsteps: [${step}]` },
      { file: 'o.yaml', text: `name: other\nsteps: [${ask('x', 'hi').replace('agent: a', 'agent: reader')}]` },
    ],
    steps: [{ file: 's.yaml', text: 'name: first-look\nexecutor: gateway\nagent: reader\nprompt_template: hi' }],
    agents: [{ file: 'a.yaml', text: 'name: reader\nmodel: m', soul: 'You read.' }],
  });
  expect(set.problems.map(({ msg }) => msg)).toEqual([expected]);
});

test('the nearest name is one mistake away, two in a long one, and never the name itself', () => {
  expect(closestName('teh', ['the', 'then'])).toBe('the');
  expect(closestName('severtiy', ['source', 'severity'])).toBe('severity');
  expect(closestName('region', ['run', 'team'])).toBeNull();
  fc.assert(
    fc.property(fc.string({ minLength: 7, maxLength: 30 }), fc.nat(), (word, at) => {
      const typo = word.slice(0, at % word.length) + word.slice((at % word.length) + 1);
      expect(closestName(typo, [word])).toBe(typo === word ? null : word);
    }),
  );
});
