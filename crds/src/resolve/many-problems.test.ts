import { expect, test } from 'vitest';
import { cpuTimeOf } from '../language/cpu-time.fixture.ts';
import { resolveSet, type ResolvedSet } from './resolve-set.ts';

const lines = (count: number, lineOf: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => lineOf(index)).join('');
/** Names that differ in the middle only, so that each is near to none and takes the longest to compare. */
const like = (index: number, chars = 60): string => `${'a'.repeat(chars - 6)}${index + 100_000}`;
const agent = (keys: string) => `  executor: gateway\n  agent: x\n${keys}`;
const WAIT = 'executor: human, prompt_template: x, timeout_seconds: 5';
const libraryStep = (_: unknown, index: number) => ({
  file: `steps/${index}.yaml`,
  text: `{name: ${like(index)}, ${WAIT}}`,
});
const prompt = (text: string) => agent(`  prompt_template: "${text}"\n`);

const MANY = {
  keys: `name: p\n${lines(4900, (index) => `max_resume_age_se${index}: 1\n`)}`,
  'library steps': `name: p\nsteps:\n${lines(3300, (index) => `- use: ${like(index + 500)}\n`)}`,
  variables: `name: p\nvars:\n${lines(4000, (index) => `  ${like(index, 12)}: 1\n`)}steps:\n- name: b\n${prompt(
    lines(2900, (index) => `{{vars.${like(index + 5000, 12)}}}`),
  )}`,
  'keys of an answer': `name: p\nsteps:\n- name: a\n${prompt('x')}  output_schema:\n    properties:\n${lines(
    1900,
    (index) => `      ${like(index, 25)}: {}\n`,
  )}- name: b\n${prompt(lines(1400, (index) => `{{steps.a.output.${like(index + 5000, 25)}}}`))}`,
  'variables of the environment': `name: p\nsteps:\n- name: a\n  executor: webhook\n  url: http://x\n  payload:\n${lines(
    4900,
    (index) => `    k${index}: "\${A${index}}"\n`,
  )}`,
};

test.each(Object.keys(MANY) as (keyof typeof MANY)[])(
  'a definition with thousands of unknown %s is judged at once, and its list of problems is short',
  (what) => {
    let set: ResolvedSet | null = null;
    const steps = Array.from({ length: 200 }, libraryStep);
    const input = { pipelines: [{ file: 'p.yaml', text: MANY[what] }], steps, operator: { pipeline_env: [] } };
    expect(cpuTimeOf(() => (set = resolveSet(input)))).toBeLessThan(5000);
    const { problems } = set as unknown as ResolvedSet;
    expect(problems.length).toBeGreaterThanOrEqual(20);
    expect(problems.length).toBeLessThanOrEqual(22);
  },
);

test('the first twenty errors are listed, and the first twenty warnings, and how many more there are', () => {
  const { problems } = resolveSet({ pipelines: [{ file: 'p.yaml', text: MANY.keys }], steps: [] });
  expect(problems).toHaveLength(21);
  expect(problems.at(-1)).toMatchObject({ severity: 'error', loc: [], msg: 'and 4881 more errors' });
});

test('shell checks that are not allowed are listed like others, those in the text of the definition first', () => {
  const checks = `deterministic_checks: [${lines(12, (index) => `{type: shell, name: c${index}, run: id},`)}]`;
  const asks = `executor: gateway, agent: x, prompt_template: x, ${checks}`;
  const steps = [{ file: 's.yaml', text: `{name: s, ${asks}}` }];
  const uses = lines(10, (index) => `- {name: a${index}, use: s}\n`);
  const own = lines(10, (index) => `- {name: b${index}, ${asks}}\n`);
  const set = resolveSet({
    pipelines: [{ file: 'p.yaml', text: `name: p\nsteps:\n${uses}${own}` }],
    steps,
    operator: {},
  });
  expect(set.pipelines).toHaveLength(1);
  const problems = set.problems.filter(({ file, loc }) => file === 'p.yaml' && loc.length > 0);
  const inOwn = problems.filter(({ loc }) => Number(loc[1]) >= 10);
  expect([problems.length, inOwn.length]).toEqual([20, 20]);
  const more = set.problems.filter(({ file, loc }) => file === 'p.yaml' && loc.length === 0);
  expect(more.map(({ msg }) => msg)).toEqual(['and 220 more warnings']);
});

const calls = (from: number, to: (index: number) => string) => ({
  file: `${from}.yaml`,
  text: `name: ${like(from)}\nsteps:\n${lines(64, (at) => `- {name: g${at}, parallel: {steps: [${lines(16, (branch) => `{name: s${at}x${branch}, executor: pipeline, pipeline: ${to(at * 16 + branch)}},`)}]}}\n`)}`,
});

test.each([
  ['are missing', (index: number) => like(index + 5000), /does not exist/],
  ['call each other', (index: number) => like(index % 4), /calls itself/],
])('pipelines with a thousand calls each of others that %s are judged at once', (_, to, expected) => {
  let set: ResolvedSet | null = null;
  const pipelines = Array.from({ length: 4 }, (_one, from) => calls(from, to));
  expect(cpuTimeOf(() => (set = resolveSet({ pipelines, steps: [] })))).toBeLessThan(4000);
  const { problems } = set as unknown as ResolvedSet;
  expect(problems).toHaveLength(4 * 21);
  expect(problems[0]?.msg).toMatch(expected);
});

test('a library step of the largest size is not written out a thousand times', () => {
  const payload = lines(4900, (index) => `  k${index}: "{{summary}} ${index}"\n`);
  const steps = [{ file: 's.yaml', text: `name: s\nexecutor: webhook\nurl: http://x\npayload:\n${payload}` }];
  const uses = (group: number) => lines(16, (branch) => `{name: s${group}x${branch}, use: s},`);
  const text = `name: p\nsteps:\n${lines(64, (group) => `- {name: g${group}, parallel: {steps: [${uses(group)}]}}\n`)}`;
  let set: ResolvedSet | null = null;
  expect(cpuTimeOf(() => (set = resolveSet({ pipelines: [{ file: 'p.yaml', text }], steps })))).toBeLessThan(4000);
  const { pipelines, problems } = set as unknown as ResolvedSet;
  expect(pipelines).toEqual([]);
  expect(problems[0]).toMatchObject({ reason: 'too_large', loc: ['steps', 0, 'parallel', 'steps', 2, 'use'], line: 3 });
  expect(problems[0]?.msg).toContain('written out, have more than 20000 nodes');
});

test('a long key is repeated whole in none of the problems about it, nor is a long message', () => {
  const key = `k${'x'.repeat(200_000)}`;
  const variables = lines(150, (index) => `      k${index}: "\${A${index}}"\n`);
  const webhook = `executor: webhook\nurl: http://x\npayload:\n  ? ${key}\n  :\n${variables}`;
  const deep = (levels: number): string => (levels === 0 ? '"${B}"' : `{${'y'.repeat(90)}: ${deep(levels - 1)}}`);
  const texts = {
    's.yaml': `name: s\n${webhook}`,
    'deep.yaml': `name: deep\nexecutor: webhook\nurl: http://x\npayload: ${deep(30)}\n`,
    'twice.yaml': `name: twice\n${key}: 1\n${lines(19, () => `${key}: 1\n`)}`,
    'unknown.yaml': `name: unknown\nexecutor: webhook\nurl: http://x\n${key}: 1\n`,
    'tag.yaml': `name: !${key} tag\n`,
  };
  const steps = Object.entries(texts).map(([file, text]) => ({ file, text }));
  const pipelines = Array.from({ length: 3 }, (_, at) => ({
    file: `p${at}.yaml`,
    text: `name: p${at}\nsteps: [{name: a, use: s}]`,
  }));
  const { problems } = resolveSet({ pipelines, steps, operator: { pipeline_env: [] } });
  const files = new Set(problems.map(({ file }) => file));
  expect([...files].toSorted()).toEqual([...pipelines.map(({ file }) => file), ...Object.keys(texts)].toSorted());
  for (const { loc, msg } of problems) expect(JSON.stringify([loc, msg]).length).toBeLessThan(1_100);
  const firstOf = (name: string) => problems.find(({ file }) => file === name);
  expect(firstOf('s.yaml')).toMatchObject({ loc: ['payload', `k${'x'.repeat(99)}…`, 'k0'], line: 7 });
  expect(firstOf('deep.yaml')?.loc).toEqual(['payload', ...Array<string>(5).fill('y'.repeat(90)), '…']);
});
