import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createResolveMemo } from './resolve-memo.ts';
import { type Operator, resolveSet, type SetInput } from './resolve-set.ts';

const step = (text: string) => `executor: gateway\nagent: helper\nprompt_template: ${text}\n`;
const STEPS = [null, `name: look\n${step('one')}`, `name: look\n${step('two')}`, 'name: look\nexecutor: nothing\n'];
const PIPELINES = [
  null,
  'name: uses\nsteps:\n  - {name: first, use: look}\n',
  'name: uses\nsteps:\n  - {name: first, use: look, timeout_seconds: 5}\n',
  'name: calls\nsteps:\n  - {name: first, executor: pipeline, pipeline: uses}\n',
  'name: shell\nsteps:\n  - {name: a, executor: gateway, agent: b, prompt_template: c, deterministic_checks: [{type: shell, name: d, run: e}]}\n',
  'name: "broken\n',
  'steps: 7\n',
];
const AGENTS = [null, 'name: helper\nmodel: demo/any\n', 'name: helper\nmodel: other/any\ntools: [none]\n'];
const OPERATORS: (Operator | undefined)[] = [
  undefined,
  { providers: ['demo'], mcp_servers: {} },
  { allow_shell_checks: true },
];

const world: fc.Arbitrary<SetInput> = fc.record({
  pipelines: fc.tuple(fc.constantFrom(...PIPELINES), fc.constantFrom(...PIPELINES)).map(files),
  steps: fc.tuple(fc.constantFrom(...STEPS), fc.constantFrom(...STEPS)).map(files),
  agents: fc.tuple(fc.constantFrom(...AGENTS)).map(files),
  operator: fc.constantFrom(...OPERATORS),
});

function files(texts: readonly (string | null)[]) {
  return texts.flatMap((text, index) => (text === null ? [] : [{ file: `${index}.yaml`, text, soul: 'Be brief.' }]));
}

test('what is remembered never changes a result, whatever was resolved before', () => {
  fc.assert(
    fc.property(fc.array(world, { minLength: 2, maxLength: 8 }), (worlds) => {
      const memo = createResolveMemo();
      for (const one of worlds) expect(resolveSet(one, memo)).toEqual(resolveSet(one));
    }),
    { numRuns: 150 },
  );
});

test('what has not changed is not looked at again', () => {
  const memo = createResolveMemo();
  const input = { pipelines: files([PIPELINES[1] ?? '']), steps: files([STEPS[1] ?? '']) };
  const [first] = resolveSet(input, memo).pipelines;
  const [again] = resolveSet(structuredClone(input), memo).pipelines;
  expect(again?.config).toBe(first?.config);
  const changed = { ...input, steps: files([STEPS[2] ?? '']) };
  expect(resolveSet(changed, memo).pipelines[0]?.config).not.toBe(first?.config);
});

test('what two passes did not use is forgotten, whatever else is kept', () => {
  const memo = createResolveMemo();
  let made = 0;
  const ask = (key: string) =>
    memo.recall(
      key,
      () => true,
      () => ++made,
    );
  const passWith = (...keys: string[]) => {
    using _pass = memo.pass();
    for (const key of keys) ask(key);
  };
  passWith('kept', 'passing');
  passWith('kept');
  passWith('kept', 'passing');
  expect(made).toBe(2);
  passWith('kept');
  passWith('kept');
  passWith('kept', 'passing');
  expect(made).toBe(3);
});

test('of a definition that changes all the time only the last values are kept', () => {
  const memo = createResolveMemo();
  const isKept = (value: number) => memo.find<number>('changing', (known) => known === value) !== undefined;
  for (let value = 0; value < 5; value++) {
    using _pass = memo.pass();
    memo.keep('changing', value);
  }
  {
    using _pass = memo.pass();
    expect([2, 3, 4].filter(isKept)).toEqual([3, 4]);
    memo.find('changing', (known) => known === 4);
  }
});
