import { afterEach, expect, test } from 'vitest';
import { createWorld, type Ended, hang, sure, type Script, type World, type WorldOptions } from '../fixtures/engine.ts';
import { listRuns } from '../../store/tables/list-runs.ts';
import { type AgentCall, type AgentFailure, failure } from '../state/executor.ts';

let world: World;
const make = async (options: WorldOptions) => (world = await createWorld(options));
afterEach(() => world.close());

const step = (more: string, prompt = 'x') =>
  `  - {name: look, executor: gateway, agent: look, prompt_template: "${prompt}"${more}}\n`;
const text = (steps: string, head = '') => `name: p\nstage: production\n${head}steps:\n${steps}`;
const warnings = (run: Ended) =>
  run.step('look').trustReport?.warnings?.map(({ type, message }) => [type, message]) ?? [];

const unavailable = (): AgentFailure => failure('unavailable', 'down', true);
const said = (trace: unknown[], more: string[] = [], traceCut = false): Script => {
  const answer = sure(0.9);
  const used = { model: 'm', provider: 'p', agentVersion: 'v', usage: null, iterations: 1, toolCalls: 0 };
  const texts = { text: JSON.stringify(answer), output: answer, stopReason: 'end', durationMs: 1 };
  return () => ({ ok: true, ...texts, ...used, trace, traceCut, warnings: more });
};
const call = (type: string, tool: string) => ({ type, server: 'db', tool });

test.each<[string, { prompt?: string; more?: string; look?: Script }, [string, string][]]>([
  ['nothing to say', {}, []],
  [
    'values that the prompt uses and that are not there',
    { prompt: 'Rate {{metadata.rate}} after {{labels.deploy}} in {{labels.service}}' },
    [['blank_values', 'the prompt went out with blanks: there is no metadata.rate, labels.deploy']],
  ],
  [
    'every tool call denied',
    { look: said([call('tool_denied', 'drop'), call('tool_denied', 'drop')]) },
    [['denied_tools', '2 tool calls denied: db/drop, so the agent used no tool']],
  ],
  [
    'one tool call of two denied',
    { look: said([call('tool_denied', 'drop'), call('tool_call', 'read')]) },
    [['denied_tools', '1 tool call denied: db/drop']],
  ],
  [
    'calls that the trace does not list',
    {
      look: said(
        [
          { ...call('tool_call', 'read'), left_out: 13 },
          { ...call('tool_denied', 'drop'), left_out: 2 },
          { ...call('tool_call', 'write'), left_out: 'many' },
        ],
        [],
        true,
      ),
    },
    [
      ['denied_tools', '3 tool calls denied: db/drop'],
      [
        'trace_cut',
        'the trace lacks entries, or their inputs and results, among them 13 of db/read (tool_call), 2 of db/drop (tool_denied)',
      ],
    ],
  ],
  [
    'a trace without what was said in its calls',
    { look: said([call('tool_call', 'read')], [], true) },
    [['trace_cut', 'the trace lacks entries, or their inputs and results']],
  ],
  [
    'what the backend says of tools',
    { look: said([], ['no tool matches db/gone']) },
    [['tools_unavailable', 'no tool matches db/gone']],
  ],
  [
    'second opinions that failed',
    { more: ', verifier: {agent: down}, grounding: {agent: down}' },
    [
      ['verifier_failed', 'the verifier gave no verdict: down'],
      ['grounding_failed', 'the grounding judge gave no score: down'],
    ],
  ],
])('warnings of a step: %s', async (_, { prompt, more = '', look = () => sure(0.9) }, expected) => {
  await make({ pipelines: [text(step(more, prompt))], agents: { look, down: unavailable } });
  const run = await world.run('p');
  expect(warnings(run)).toEqual(expected);
  expect(run.run).toMatchObject({ status: 'completed', warningCount: expected.length });
  expect(run.step('look').trustReport).toMatchObject({ passed: true, trust: 0.9 });
});

test('failed attempts, and a failure after which the run went on, are warnings of a run that completed', async () => {
  const retry = ', retry: {attempts: 2, delay_seconds: 0.001}, on_failure: continue';
  await make({ pipelines: [text(step(retry))], agents: { look: unavailable } });
  const run = await world.run('p');
  expect(warnings(run)).toEqual([
    ['continued_failure', 'the step failed, and the run went on without its result'],
    ['failed_attempts', '1 attempt failed before the last one'],
  ]);
  expect(run.run).toMatchObject({ status: 'completed', warningCount: 2 });
  expect(run.step('look').trustReport).toMatchObject({ passed: null, sentence: 'The step ended before its gate.' });
});

test('what a trace names without a text ends no run', async () => {
  const noText = { toString: 1, valueOf: 1 };
  const trace = ['tool_call', 'tool_denied', noText].map((type) => ({
    type,
    server: noText,
    tool: 'read',
    result: noText,
    left_out: 1,
  }));
  const grounding = `, grounding: {agent: judge}`;
  await make({
    pipelines: [text(step(grounding))],
    agents: { look: said(trace, [], true), judge: () => sure(1, { score: 1 }) },
  });
  const run = await world.run('p');
  expect(run.run).toMatchObject({ status: 'completed', error: null });
  expect(warnings(run)).toEqual([
    ['denied_tools', '2 tool calls denied: /read'],
    [
      'trace_cut',
      'the trace lacks entries, or their inputs and results, among them 1 of /read (tool_call), 1 of /read (tool_denied), 1 of /read ()',
    ],
  ]);
});

test('a trace of an earlier attempt that was cut is a warning of the last one', async () => {
  let attempts = 0;
  const spent = {
    model: 'm',
    provider: 'p',
    agentVersion: 'v',
    usage: null,
    durationMs: 1,
    iterations: 1,
    toolCalls: 1,
  };
  const lost = { ...unavailable(), spent: { ...spent, trace: [], traceCut: true, warnings: [] } };
  const look = () => ((attempts += 1) === 1 ? lost : sure(0.9));
  await make({ pipelines: [text(step(', retry: {attempts: 2, delay_seconds: 0.001}'))], agents: { look } });
  const run = await world.run('p');
  expect(warnings(run).map(([type]) => type)).toEqual(['failed_attempts', 'trace_cut']);
});

test('the warnings of steps that ended before a restart count for their run', async () => {
  let stuck = true;
  const again = step('').replaceAll('look', 'again');
  const agents = { look: () => sure(0.9), again: (call: AgentCall) => (stuck ? hang(call) : sure(0.9)) };
  await make({ pipelines: [text(step('', '{{labels.no}}') + again)], agents });
  const id = await world.start('p');
  await expect.poll(() => world.calls.length).toBe(2);
  await world.restart();
  stuck = false;
  await world.engine.resume();
  const run = await world.ended(id);
  expect(run.run).toMatchObject({ status: 'completed', warningCount: 1 });
  expect(warnings(run).map(([type]) => type)).toEqual(['blank_values']);
});

test('runs are listed by whether they have warnings', async () => {
  const named = (name: string, prompt: string) => text(step('', prompt)).replace('name: p', `name: ${name}`);
  await make({ pipelines: [named('p', 'x'), named('q', '{{labels.no}}')], agents: { look: () => sure(0.9) } });
  await world.run('p');
  await world.run('q');
  const page = { limit: 10, offset: 0 };
  const listed = async (warned: boolean) =>
    (await listRuns(world.database.db, { warnings: warned }, page)).runs.map(({ pipelineName }) => pipelineName);
  expect([await listed(true), await listed(false)]).toEqual([['q'], ['p']]);
});

test.each([
  ['its pipeline', text(step('', '{{labels.no}}'), 'on_missing_value: fail\n')],
  ['the step', text(step(', on_missing_value: fail', '{{labels.no}}'))],
])('on_missing_value: fail of %s fails the step before anything is called', async (_, pipeline) => {
  await make({ pipelines: [pipeline], agents: { look: () => sure(0.9) } });
  const run = await world.run('p');
  expect(run.step('look').error).toEqual({
    type: 'missing_value',
    message: 'the prompt uses labels.no, which does not exist (on_missing_value: fail)',
  });
  expect([world.calls, warnings(run)]).toEqual([[], []]);
});

test('on_missing_value: fail keeps a request and a sub-run back, and a step may say otherwise', async () => {
  const hook = '  - {name: look, executor: webhook, url: "http://127.0.0.1:1/{{labels.no}}"}\n';
  const sub = '  - {name: look, executor: pipeline, pipeline: q, context: {summary: "{{labels.no}}"}}\n';
  const head = 'on_missing_value: fail\n';
  const q = text(step('')).replace('name: p', 'name: q');
  const pipelines = [text(hook, head), text(sub, head).replace('name: p', 'name: r'), q];
  pipelines.push(text(step(', on_missing_value: warn', '{{labels.no}}'), head).replace('name: p', 'name: s'));
  await make({ pipelines, agents: { look: () => sure(0.9) } });
  for (const name of ['p', 'r']) expect((await world.run(name)).step('look').error?.type).toBe('missing_value');
  expect(warnings(await world.run('s')).map(([type]) => type)).toEqual(['blank_values']);
});
