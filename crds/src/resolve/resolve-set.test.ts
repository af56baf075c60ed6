import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cpuTimeOf } from '../language/cpu-time.fixture.ts';
import { checkAgent } from './agent-rules.ts';
import { Agent } from '../kinds/agent.ts';
import { HOSTILE_SCHEMA } from '../language/json-schema.fixture.ts';
import { pipelineWith, RESTART_PIPELINE, TRIAGE_STEP, WHOLE_LANGUAGE } from '../kinds/pipeline.fixture.ts';
import { type Operator, resolveSet, type ResolvedSet } from './resolve-set.ts';
import type { Source } from './source.ts';

const whole: Source = { file: 'pipelines/whole.yaml', text: WHOLE_LANGUAGE };

function resolve(pipelines: Source[], operator?: Operator, steps: Source[] = [TRIAGE_STEP]): ResolvedSet {
  return resolveSet({ pipelines, steps, ...(operator ? { operator } : {}) });
}

const errors = (set: ResolvedSet): string[] =>
  set.problems.filter(({ severity }) => severity === 'error').map(({ loc, msg }) => `${loc.join('.')}: ${msg}`);
const FULL_SCHEMA = JSON.stringify({ enum: Array.from({ length: 1997 }, (_, index) => index) });
const agentStep = (keys: string): string => `{name: a, executor: gateway, agent: x, prompt_template: hi, ${keys}}`;

test('a pipeline with every key of the language resolves', () => {
  const set = resolve([whole, RESTART_PIPELINE]);
  expect(set.problems).toEqual([]);
  const { config, uses } = set.pipelines.find(({ name }) => name === 'whole-language')!;
  expect(uses).toEqual(['first-line-triage']);
  expect(config.steps).toHaveLength(8);
  expect(config).toMatchObject({ schedule: { timezone: 'Europe/Berlin' }, trigger: { priority: 10 } });
});

test("a pipeline's own keys win over those of the library step, whose description and tags stay behind", () => {
  const [step] = resolve([whole, RESTART_PIPELINE]).pipelines.find(({ name }) => name === 'whole-language')!.config
    .steps;
  expect(step).toEqual({
    name: 'triage',
    executor: 'gateway',
    agent: 'triage',
    prompt_template: 'Triage {{summary}}',
    model: 'anthropic/claude-haiku',
    confidence_threshold: 0.7,
    on_low_confidence: 'escalate',
    timeout_seconds: 300,
    deterministic_checks: [],
    on_failure: { policy: 'abort' },
  });
});

test('the resolved body can be served without the library and keeps its hash', () => {
  const [first] = resolve([pipelineWith('p', '', '{name: a, use: first-line-triage}')]).pipelines;
  const again = resolveSet({ pipelines: [{ file: 'x.yaml', text: JSON.stringify(first!.body) }], steps: [] });
  expect(again.problems).toEqual([]);
  expect(again.pipelines[0]).toMatchObject({ hash: first!.hash, config: first!.config, uses: [] });
});

test('the hash follows the library step and not the way a file is written', () => {
  const hashOf = (text: string, steps: Source[]): string | undefined =>
    resolve([{ file: 'p.yaml', text }], undefined, steps).pipelines[0]?.hash;
  const text = 'name: p\nsteps: [{name: a, use: first-line-triage}]\n';
  const before = hashOf(text, [TRIAGE_STEP]);
  expect(hashOf('# comment\nsteps:\n- use: first-line-triage\n  name: a\nname: p\n', [TRIAGE_STEP])).toBe(before);
  expect(hashOf(text, [{ ...TRIAGE_STEP, text: TRIAGE_STEP.text.replace('agent: triage', 'agent: other') }])).not.toBe(
    before,
  );
});

test('pipelines load by priority, then by file name in byte order', () => {
  const set = resolve([
    pipelineWith('b', ''),
    pipelineWith('a', ''),
    pipelineWith('Z', ''),
    pipelineWith('top', 'trigger: {priority: 5}'),
    pipelineWith('low', 'trigger: {priority: -1}'),
  ]);
  expect(set.pipelines.map(({ name }) => name)).toEqual(['top', 'Z', 'a', 'b', 'low']);
});

test.each<[string, string, RegExp]>([
  ['a misspelt key', 'stagge: testing', /stagge: unknown key "stagge"; did you mean "stage"\?$/],
  ['a key like no other', 'weather: sunny', /weather: unknown key "weather"$/],
  ['a wrong stage', 'stage: prod', /stage: expected/],
  ['too many runs at once', 'concurrency: {limit: 0}', /concurrency.limit/],
  [
    'a long key',
    `concurrency: {limit: 1, key: ${'k'.repeat(1025)}}`,
    /concurrency.key: may have at most 1024 characters$/m,
  ],
  [
    'a key that names many values',
    'concurrency: {limit: 1, key: "{{#each labels as |a b c|}}x{{/each}}"}',
    /concurrency.key: {{#each}} names at most two values with as \|…\|$/m,
  ],
  ['an empty budget', 'budget: {}', /max_tokens or max_cost/],
  ['a bad cron', 'schedule: {cron: "* * *"}', /schedule.cron: invalid cron/],
  ['a cron with seconds', 'schedule: {cron: "* * * * * *"}', /schedule.cron/],
  ['a cron that never fires', 'schedule: {cron: "0 0 31 2 *"}', /schedule.cron/],
  ['an unknown timezone', 'schedule: {cron: "0 0 * * *", timezone: Mars/Base}', /unknown timezone/],
  ['a bad pattern in match', 'trigger: {match: {a: {regex: "("}}}', /trigger.match.a: invalid regular/],
  [
    'a 65th rule',
    `trigger: {match: {${'?'.repeat(65).replaceAll(/./g, (_, at) => `a${at}: 1, `)}}}`,
    /trigger.match: may have at most 64 keys/,
  ],
  [
    'a long list in a rule',
    `trigger: {match: {a: {in: [${'1,'.repeat(1001)}]}}}`,
    /trigger.match.a: may have at most 1000 values/,
  ],
  [
    'a bad template in a message',
    'notifications: {fail: [{channel: log, template: "{{> x}}"}]}',
    /notifications.fail.0.template/,
  ],
  ['an unknown channel', 'notifications: {fail: [{channel: pigeon}]}', /channel/],
  ['an unknown tier', 'readiness: {happiness: {}}', /readiness.happiness: unknown key/],
])('%s is an error', (_name, keys, msg) => {
  const set = resolve([pipelineWith('p', keys)]);
  expect(errors(set).join('\n')).toMatch(msg);
  expect(set.pipelines).toEqual([]);
});

test.each<[string, string, RegExp]>([
  ['no shape', '{name: a, prompt_template: hi}', /needs exactly one of use, executor, parallel or fan_out$/m],
  ['a misspelt shape', '{name: a, executer: gateway}', /"executer" is unknown, did you mean "executor"\?/],
  ['an unknown executor', '{name: a, executor: gatway}', /steps.0.executor: expected gateway/],
  ['two shapes', '{name: a, executor: gateway, agent: x, prompt_template: hi, parallel: {steps: []}}', /exactly one/],
  ['what has no text as a name', '{name: a, use: {toString: 1, valueOf: 1}}', /steps.0.use: must name a library step/],
  ['use beside executor', '{name: a, use: first-line-triage, executor: human}', /exactly one/],
  ['a missing agent', '{name: a, executor: gateway, prompt_template: hi}', /steps.0.agent: is required/],
  ['a missing prompt', '{name: a, executor: external, agent: x}', /prompt_template: is required/],
  ['a webhook without a URL', '{name: a, executor: webhook}', /url: is required/],
  ['a human without a timeout', '{name: a, executor: human, prompt_template: ok}', /timeout_seconds: is required/],
  ['a sub-pipeline without a name', '{name: a, executor: pipeline}', /pipeline: is required/],
  [
    'a key of another executor',
    '{name: a, executor: webhook, url: "http://x", agent: y}',
    /agent: unknown key "agent"$/m,
  ],
  ['a misspelt key', agentStep('confidence_treshold: 0.5'), /unknown key .*; did you mean "confidence_threshold"\?/],
  ['a gate on a webhook', '{name: a, executor: webhook, url: "http://x", confidence_threshold: 0.5}', /unknown key/],
  ['a confidence above one', agentStep('confidence_threshold: 1.5'), /confidence_threshold/],
  ['a timeout of a month', agentStep('timeout_seconds: 2592000'), /timeout_seconds/],
  ['a veto floor without veto', agentStep('verifier: {agent: v, veto_floor: 0.4}'), /veto_floor: is allowed only/],
  ['a bad condition', agentStep('when: "a >"'), /when: invalid expression/],
  ['a bad condition of the verifier', agentStep('verifier: {agent: v, when: "foo(1)"}'), /verifier.when/],
  ['a bad schema', agentStep('output_schema: {type: nonsense}'), /output_schema: invalid JSON Schema/],
  ['a schema that multiplies', agentStep(`output_schema: ${HOSTILE_SCHEMA}`), /^steps\.0\.output_schema: .* multiply/],
  ['a schema too large with the contract', agentStep(`output_schema: ${FULL_SCHEMA}`), /output_schema: with the keys/],
  [
    'a bad check',
    agentStep('deterministic_checks: [{type: webhook, name: c, url: "http://x", expect: "1 +"}]'),
    /deterministic_checks.0.expect/,
  ],
  [
    'the same check twice',
    agentStep('deterministic_checks: [{type: shell, name: c, run: x}, {type: shell, name: c, run: y}]'),
    /used twice/,
  ],
  [
    'a body of a GET',
    agentStep('deterministic_checks: [{type: webhook, name: c, url: "http://x", payload: {}}]'),
    /needs method: POST/,
  ],
  ['a wrong policy', agentStep('on_failure: {policy: maybe}'), /on_failure.policy/],
  ['a typo in on_failure', agentStep('on_failure: {polcy: abort}'), /on_failure.polcy: unknown key/],
  [
    'a prompt outside the sandbox',
    '{name: a, executor: gateway, agent: x, prompt_template: "{{lookup a b}}"}',
    /prompt_template: unknown helper/,
  ],
  [
    'too many items',
    '{name: a, fan_out: {over: x, max_items: 201, step: {executor: gateway, agent: x, prompt_template: hi}}}',
    /max_items/,
  ],
  [
    'an item that hides the context',
    '{name: a, fan_out: {over: x, as: labels, step: {executor: gateway, agent: x, prompt_template: hi}}}',
    /fan_out.as/,
  ],
  [
    'a name inside a fan-out',
    '{name: a, fan_out: {over: x, step: {name: b, executor: gateway, agent: x, prompt_template: hi}}}',
    /name: unknown key/,
  ],
  [
    'a bad list expression',
    '{name: a, fan_out: {over: "x[", step: {executor: gateway, agent: x, prompt_template: hi}}}',
    /fan_out.over/,
  ],
  [
    '17 branches',
    `{name: a, parallel: {steps: [${Array.from({ length: 17 }, (_, i) => `{name: b${i}, use: first-line-triage}`).join()}]}}`,
    /parallel.steps/,
  ],
  ['a name with a slash', '{name: a/b, executor: webhook, url: "http://x"}', /name: must be/],
  [
    'a field of a wrong type',
    '{name: a, executor: human, prompt_template: x, timeout_seconds: 9, fields: [{name: n, type: integer, default: x}]}',
    /default: must be of type integer/,
  ],
  ['a library step that is not there', '{name: a, use: nope}', /steps.0.use: library step "nope" does not exist/],
  ['a pipeline that is not there', '{name: a, executor: pipeline, pipeline: nope}', /"nope" does not exist/],
])('a step with %s is an error', (_name, step, msg) => {
  const set = resolve([pipelineWith('p', '', step)]);
  expect(errors(set).join('\n')).toMatch(msg);
  expect(set.pipelines).toEqual([]);
});

test('every problem names its file, its definition and its line', () => {
  const set = resolve([
    {
      file: 'pipelines/p.yaml',
      text: 'name: p\nsteps:\n  - name: a\n    executor: gateway\n    agent: x\n    promt: y\n    prompt_template: hi\n',
    },
  ]);
  expect(set.problems).toEqual([
    {
      severity: 'error',
      kind: 'Pipeline',
      name: 'p',
      file: 'pipelines/p.yaml',
      loc: ['steps', 0, 'promt'],
      msg: 'unknown key "promt"',
      reason: 'invalid',
      line: 6,
      col: 5,
    },
  ]);
});

test('step names are unique in the whole pipeline, also once "-" became "_"', () => {
  const steps = (...names: string[]): string =>
    names.map((name) => `{name: ${name}, executor: webhook, url: "http://x"}`).join('\n  - ');
  expect(errors(resolve([pipelineWith('p', '', steps('a', 'a'))]))).toEqual(['steps.1.name: "a" is used twice']);
  expect(errors(resolve([pipelineWith('p', '', steps('a-b', 'a_b'))]))).toEqual([
    'steps.1.name: "a_b" and "a-b" are the same when "-" is replaced by "_"',
  ]);
  const nested = `{name: g, parallel: {steps: [${steps('x')}]}}\n  - ${steps('x')}`;
  expect(errors(resolve([pipelineWith('p', '', nested)]))).toEqual(['steps.1.name: "x" is used twice']);
  expect(
    errors(resolve([pipelineWith('p', '', steps(...Array.from({ length: 65 }, (_, i) => `s${i}`)))])).join(),
  ).toMatch(/steps: /);
});

test('a broken definition never keeps another from loading', () => {
  const broken: Source[] = [
    { file: 'pipelines/0.yaml', text: 'name: [' },
    { file: 'pipelines/1.yaml', text: '' },
    { file: 'pipelines/2.yaml', text: '- a\n- b\n' },
    { file: 'pipelines/3.yaml', text: 'name: "../x"\nsteps: []\n' },
    { file: 'pipelines/4.yaml', text: `a: [${'1,'.repeat(20_000)}1]` },
    pipelineWith('5', 'nonsense: 1'),
  ];
  const set = resolve([...broken, pipelineWith('good', '')]);
  expect(set.pipelines.map(({ name }) => name)).toEqual(['good']);
  expect(new Set(set.problems.map(({ file }) => file)).size).toBe(broken.length);
  expect(set.problems.find(({ file }) => file === 'pipelines/4.yaml')?.reason).toBe('too_large');
});

test('a library step with a problem breaks the pipelines that use it and no other', () => {
  const set = resolve(
    [pipelineWith('uses', '', '{name: a, use: first-line-triage}'), pipelineWith('other', '')],
    undefined,
    [{ ...TRIAGE_STEP, text: `${TRIAGE_STEP.text}nonsense: 1\n` }],
  );
  expect(set.pipelines.map(({ name }) => name)).toEqual(['other']);
  expect(set.problems.map(({ reason }) => reason)).toEqual(['invalid', 'missing_step']);
});

test('a schema that multiplies is refused where it is written: in a library step and in an agent', () => {
  const text = `${TRIAGE_STEP.text}output_schema: ${HOSTILE_SCHEMA}\n`;
  const set = resolve([pipelineWith('other', '')], undefined, [{ ...TRIAGE_STEP, text }]);
  expect(set.problems).toMatchObject([{ kind: 'LibraryStep', loc: ['output_schema'] }]);
  const agent = Agent.parse({ name: 'a', model: 'm', output_schema: JSON.parse(HOSTILE_SCHEMA) as unknown });
  expect(checkAgent(agent, 'soul')).toMatchObject([{ loc: ['output_schema'] }]);
});

test('the later file of a name that is given twice is the error', () => {
  const set = resolve([
    { ...pipelineWith('same', ''), file: 'b.yaml' },
    { ...pipelineWith('same', ''), file: 'a.yaml' },
  ]);
  expect(set.pipelines.map(({ file }) => file)).toEqual(['a.yaml']);
  expect(set.problems).toMatchObject([
    { file: 'b.yaml', reason: 'name_conflict', msg: '"same" is already defined in a.yaml' },
  ]);
});

test('a source with precedence keeps its name against an earlier file', () => {
  const older = { ...pipelineWith('same', ''), file: 'z.yaml', precedence: -1 };
  const set = resolve([{ ...pipelineWith('same', ''), file: 'a.yaml' }, older]);
  expect(set.pipelines.map(({ file }) => file)).toEqual(['z.yaml']);
  expect(set.problems).toMatchObject([{ file: 'a.yaml', reason: 'name_conflict' }]);
});

const calling = (name: string, to: string): Source =>
  pipelineWith(name, '', `{name: a, executor: pipeline, pipeline: ${to}}`);

test('pipelines that call themselves in a circle are refused, those outside are not', () => {
  const set = resolve([
    calling('a', 'b'),
    calling('b', 'c'),
    calling('c', 'a'),
    calling('self', 'self'),
    calling('out', 'fine'),
    pipelineWith('fine', ''),
    calling('into', 'a'),
  ]);
  expect(set.pipelines.map(({ name }) => name)).toEqual(['fine', 'into', 'out']);
  expect(set.problems.map(({ name, reason }) => `${name} ${reason}`)).toEqual([
    'a cycle',
    'b cycle',
    'c cycle',
    'self cycle',
  ]);
});

test('five levels of pipelines are allowed and six are not', () => {
  const chain = (levels: number): Source[] => [
    ...Array.from({ length: levels }, (_, i) => calling(`p${i}`, `p${i + 1}`)),
    pipelineWith(`p${levels}`, ''),
  ];
  expect(resolve(chain(5)).problems).toEqual([]);
  expect(resolve(chain(6)).problems).toMatchObject([{ name: 'p0', reason: 'too_deep' }]);
});

test('shell checks are a warning with a reason of its own where they are not allowed', () => {
  const step = agentStep('deterministic_checks: [{type: shell, name: c, run: "true"}]');
  const set = resolve([pipelineWith('p', '', step)], {});
  expect(set.problems).toMatchObject([
    { severity: 'warning', reason: 'shell_not_allowed', loc: ['steps', 0, 'deterministic_checks', 0, 'run'] },
  ]);
  expect(set.pipelines).toHaveLength(1);
  expect(resolve([pipelineWith('p', '', step)], { allow_shell_checks: true }).problems).toEqual([]);
  const library = {
    ...TRIAGE_STEP,
    text: `${TRIAGE_STEP.text}deterministic_checks: [{type: shell, name: c, run: x}]\n`,
  };
  expect(resolve([], {}, [library]).problems).toMatchObject([{ kind: 'LibraryStep', reason: 'shell_not_allowed' }]);
});

test('an environment name that the operator does not list is a warning', () => {
  const step =
    '{name: a, executor: webhook, url: "${HOST}/${PATH_PART}", headers: {A: "${HOST}"}, payload: {x: ["${OTHER}"]}}';
  const set = resolve([pipelineWith('p', '', step)], { pipeline_env: ['HOST'] });
  expect(set.problems.map(({ reason, loc }) => `${reason} ${loc.join('.')}`)).toEqual([
    'env_not_allowed steps.0.url',
    'env_not_allowed steps.0.payload.x.0',
  ]);
  expect(set.pipelines).toHaveLength(1);
});

test('keys that do nothing where they stand are warnings', () => {
  const step = '{name: g, parallel: {steps: [{name: a, use: first-line-triage, weight: 2, on_low_confidence: abort}]}}';
  expect(
    resolve([pipelineWith('p', '', step)]).problems.map(({ reason, loc }) => `${reason} ${String(loc.at(-1))}`),
  ).toEqual(['no_effect weight', 'no_effect on_low_confidence']);
});

test('a trigger rule that cannot match loads with a warning', () => {
  const set = resolve([pipelineWith('p', 'trigger: {match: {a: {like: x}, b: {eq: 1, ne: 2}}}')]);
  expect(set.problems.map(({ severity }) => severity)).toEqual(['warning', 'warning']);
  expect(set.pipelines).toHaveLength(1);
});

test('agents are checked against the providers and tool servers of the gateway', () => {
  const agent = (keys: string): Source => ({ file: 'agents/a/agent.yaml', text: `name: a\n${keys}`, soul: 'You are.' });
  const operator: Operator = { providers: ['anthropic'], mcp_servers: { host: 'process', cluster: 'image' } };
  const reasons = (keys: string): string[] =>
    resolveSet({ pipelines: [], steps: [], agents: [agent(keys)], operator }).problems.map(
      ({ reason, loc }) => `${reason} ${loc.join('.')}`,
    );
  expect(reasons('model: anthropic/x\nmodel_fallbacks: [bare]\ntools: [host, "cluster/get_*"]\n')).toEqual([]);
  expect(reasons('model: nobody/x\nmodel_fallbacks: [anthropic/y, other/z]\n')).toEqual([
    'unknown_provider model',
    'unknown_provider model_fallbacks.1',
  ]);
  expect(reasons('model: x\ntools: [nope]\n')).toEqual(['unknown_server tools.0']);
  expect(reasons('model: x\ntools: [cluster]\nruntime: {mode: process}\n')).toEqual(['unknown_server tools.0']);
  expect(reasons('model: x\ncolour: red\n')).toEqual(['invalid colour']);
});

test('an agent that is not defined is a warning where agents are part of the set', () => {
  const input = { pipelines: [pipelineWith('p', '', agentStep('grounding: {agent: judge}'))], steps: [] };
  const agents: Source[] = [{ file: 'agents/x/agent.yaml', text: 'name: x\nmodel: m\n', soul: 'You are.' }];
  expect(resolveSet(input).problems).toEqual([]);
  const set = resolveSet({ ...input, agents });
  expect(set.problems).toMatchObject([
    { severity: 'warning', reason: 'unknown_agent', loc: ['steps', 0, 'grounding', 'agent'] },
  ]);
  expect(set.agents[0]).toMatchObject({
    name: 'x',
    soul: 'You are.',
    version: expect.stringMatching(/^[0-9a-f]{12}$/) as string,
  });
});

test('any set of texts is answered and never thrown at', () => {
  const word = fc.constantFrom(
    'name',
    'steps',
    'use',
    'executor',
    'parallel',
    'fan_out',
    'step',
    'gateway',
    'human',
    'when',
    'prompt_template',
    'trigger',
    'match',
    'schedule',
    'cron',
    'verifier',
    'deterministic_checks',
    'type',
    'shell',
    'on_failure',
    'constructor',
    '__proto__',
    'a',
    'toString',
  );
  const tree = fc.letrec<{ node: unknown }>((tie) => ({
    node: fc.oneof(
      { maxDepth: 5, depthSize: 'small' },
      fc.oneof(word, fc.string(), fc.integer(), fc.boolean(), fc.constant(null), fc.double()),
      fc.array(tie('node'), { maxLength: 3 }),
      fc.dictionary(word, tie('node'), { maxKeys: 5 }),
    ),
  })).node;
  const body = fc.record(
    {
      name: fc.oneof(word, fc.constant('p')),
      steps: fc.array(fc.dictionary(word, tree, { maxKeys: 5 }), { maxLength: 3 }),
      executor: tree,
      model: tree,
    },
    { requiredKeys: [] },
  );
  const text = fc.oneof(
    fc.string(),
    fc.oneof(body, tree).map((value) => JSON.stringify(value) ?? ''),
    mutated(),
  );
  const sources = fc.array(fc.record({ file: fc.string(), text }), { maxLength: 4 });
  fc.assert(
    fc.property(sources, sources, sources, (pipelines, steps, agents) => {
      const set = resolveSet({ pipelines, steps, agents, operator: { providers: [], mcp_servers: {} } });
      for (const problem of set.problems) expect(problem.msg).not.toBe('');
      expect(set.pipelines.length).toBeLessThanOrEqual(pipelines.length);
    }),
    { numRuns: 120 },
  );
});

/** The whole language with one stretch replaced, which stays close to what people write wrong. */
function mutated(): fc.Arbitrary<string> {
  const piece = fc.constantFrom('', '{', '}', '[', ': ', '- ', '"', 'null', '{{', '\n', '*a', '&a ', '1e999', '!!x ');
  return fc
    .tuple(fc.nat(WHOLE_LANGUAGE.length), fc.nat(40), piece)
    .map(([at, length, text]) => WHOLE_LANGUAGE.slice(0, at) + text + WHOLE_LANGUAGE.slice(at + length));
}

test.each([
  ['repetitions', 'a{999}'.repeat(9)],
  ['classes', `(?i)[${'B-\u{1e942}'.repeat(5)}]`],
])('patterns whose %s would take long to compile are refused with their place, and quickly', (_, heavy) => {
  const conditions = Array.from({ length: 20 }, () => `severity.matches("${heavy}")`).join(', ');
  const match = Array.from({ length: 64 }, (_at, index) => `labels.k${index}: {regex: "${heavy}"}`).join(', ');
  const text = `name: p\ntrigger: {match: {${match}}}\nsteps: [{name: one, executor: gateway, agent: a, prompt_template: hi, when: 'true in [${conditions}]'}]`;
  let found: ReturnType<typeof resolveSet> | undefined;
  expect(cpuTimeOf(() => (found = resolveSet({ pipelines: [{ file: 'p.yaml', text }], steps: [] })))).toBeLessThan(
    2000,
  );
  const problems = found?.problems.map(({ loc, msg }) => [loc.slice(0, 3).join('.'), msg]);
  expect(problems?.[0]?.[0]).toBe('steps.0.when');
  expect(problems?.at(-1)).toEqual(['', expect.stringMatching(/^and \d+ more errors$/)]);
});
