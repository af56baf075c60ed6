import { Pipeline } from '@signalbox/crds';
import { expect, test } from 'vitest';
import { snapshotOf } from '../fixtures/fake-deps.ts';
import { NOW, runLine } from '../fixtures/runs.ts';
import { createLayout } from '../run/graph/layout.ts';
import { runRow } from '../runs/row.ts';
import { pipelineSteps } from './places.ts';
import { agentsView, pipelinesView, pipelineView, problemRows, stepsView } from './view.ts';

const STEP = { name: 'a', executor: 'human', weight: 1 };
const entry = {
  name: 'host-load',
  file: '/etc/signalbox/host-load.yaml',
  text: 'name: host-load\nsteps: []\n',
  hash: '9c1be2f04a7d',
  uses: ['read-machine'],
  config: {
    stage: 'production',
    trigger: {
      match: { severity: 'critical', alertname: { regex: '^Host' }, 'labels.ns': { in: ['shop', 'canary'] } },
    },
    steps: [
      { name: 'observe', executor: 'gateway', agent: 'machine-reader', confidence_threshold: 0.75 },
      { name: 'both', parallel: { join: 'all_must_pass', steps: [STEP, STEP] } },
    ],
  },
};
const library = { ...entry, name: 'read-machine', config: { executor: 'gateway', agent: 'machine-reader' } };
const AROUND = { rows: [], currency: 'USD', stats: null, layout: createLayout() };
const LOADED = { pipelines: [entry], steps: [library] };
const definitions = snapshotOf(LOADED);

test('a pipeline says what it matches in words', () => {
  const [row] = pipelinesView(definitions, NOW).rows;
  expect(row).toMatchObject({
    testing: false,
    trigger: 'severity = critical, alertname ~ ^Host, labels.ns in shop | canary',
    shape: '2 steps · 1 group',
    schedule: '',
  });
});

test.each([
  [undefined, 'Only when named'],
  [{}, 'Everything'],
])('a match of %j reads %s', (match, words) => {
  const [row] = pipelinesView(snapshotOf({ pipelines: [{ ...entry, config: { trigger: { match } } }] }), NOW).rows;
  expect(row!.trigger).toBe(words);
});

test('steps, lines of YAML and places of problems are counted from one', () => {
  const view = pipelineView(definitions.pipelines[0]!, definitions, AROUND);
  expect(view.entries).toMatchObject([
    { number: 1, name: 'observe', shape: 'gateway · machine-reader', threshold: '0.75' },
    { number: 2, shape: 'parallel · 2 branches · all must pass' },
  ]);
  expect(view.yaml).toEqual([
    {
      number: 1,
      mark: null,
      pieces: [
        { kind: 'key', text: 'name' },
        { kind: '', text: ':' },
        { kind: '', text: ' host-load' },
      ],
    },
    {
      number: 2,
      mark: null,
      pieces: [
        { kind: 'key', text: 'steps' },
        { kind: '', text: ':' },
        { kind: '', text: ' []' },
      ],
    },
  ]);
  const problem = {
    severity: 'error' as const,
    kind: 'Pipeline' as const,
    name: 'x',
    file: 'x.yaml',
    reason: 'invalid' as const,
    loc: ['steps', 2],
    msg: 'no',
    line: 14,
    col: 3,
  };
  expect(problemRows([{ ...problem, severity: 'warning' }, problem])).toMatchObject([
    { word: 'Error', place: '14:3', file: 'x.yaml', loc: 'steps.2' },
    { word: 'Warning' },
  ]);
});

test('library steps and agents name their users, a backend that is down is told', () => {
  const steps = stepsView(definitions, NOW);
  expect(steps.rows).toMatchObject([{ name: 'read-machine', users: 1 }]);
  expect(steps.inPipelines).toContainEqual(expect.objectContaining({ name: 'a', href: '/ui/steps/a' }));
  const view = agentsView(
    {
      agents: [
        { name: 'machine-reader', executor: 'gateway', model: null },
        { name: 'mute', executor: 'gateway', model: 'keyless/m', warnings: ['model: provider "keyless" has no key'] },
      ],
      errors: { external: 'refused' },
    },
    definitions,
  );
  expect(view).toMatchObject({
    rows: [
      { model: '–', users: [{ name: 'host-load' }], warnings: [] },
      { name: 'mute', warnings: ['model: provider "keyless" has no key'] },
    ],
    errors: [{ title: 'The external backend does not answer.', message: 'refused' }],
  });
});

test('pipelines are looked through for agents once, verifiers and judges included, however many agents are listed', () => {
  let reads = 0;
  const judged = { executor: 'external', agent: 'judge' };
  const verifier = { executor: 'gateway', agent: 'verifier' };
  const steps = [{ name: 'a', executor: 'gateway', agent: 'asked', prompt_template: 'x', grounding: judged, verifier }];
  const counted = Object.defineProperty({}, 'steps', { enumerable: true, get: () => ((reads += 1), steps) });
  const all = snapshotOf({ pipelines: [{ ...entry, name: 'only' }] });
  Object.assign(all.pipelines[0]!, { config: counted });
  const agents = ['asked', 'verifier', 'judge', 'x'].flatMap((name) =>
    ['gateway', 'external'].map((executor) => ({ name, executor, model: null })),
  );
  const view = () =>
    agentsView({ agents, errors: { external: 'it lists 1001 agents; the first 1000 are taken' } }, all);
  view();
  const { rows, errors } = view();
  const used = rows.filter(({ users }) => users.length > 0);
  expect(used.map(({ name, executor }) => `${executor}:${name}`)).toEqual([
    'gateway:asked',
    'gateway:verifier',
    'external:judge',
  ]);
  expect(errors).toMatchObject([{ title: 'The external backend lists too many agents.' }]);
  expect(reads).toBe(1);
});

test('shapes, schedule and limits are told in words', () => {
  const config = {
    schedule: { cron: '0 6 * * 1-5', timezone: 'Europe/Berlin' },
    concurrency: { limit: 2, key: '{{labels.service}}', on_limit: 'reject' },
    budget: { max_tokens: 200_000, max_cost: 4 },
    steps: [
      { name: 'both', parallel: { join: 'weighted_average', steps: [{ name: 'a', executor: 'gateway', weight: 2 }] } },
      { name: 'each', fan_out: { over: 'vars.hosts', as: 'host', join: 'all_must_pass', step: { executor: 'human' } } },
      { name: 'sure', executor: 'gateway', verifier: {}, deterministic_checks: [{}, {}] },
      { name: 'other', executor: 'pipeline', pipeline: 'host-load' },
    ],
  };
  const view = pipelineView(snapshotOf({ pipelines: [{ ...entry, config }] }).pipelines[0]!, definitions, AROUND);
  expect(view.shape).toBe('4 steps · 1 group · 1 fan-out · 1 sub-pipeline');
  expect(view.entries).toMatchObject([
    { shape: 'parallel · 1 branch · weighted average', branches: [{ name: 'a', weight: '× 2' }] },
    { shape: 'fan-out over vars.hosts · all must pass', branches: [{ name: 'each host', shape: 'human' }] },
    { extras: ['verifier', '2 checks'], branches: [] },
    { shape: 'pipeline · host-load' },
  ]);
  const facts = Object.fromEntries(view.facts.map(({ label, value }) => [label, value]));
  expect(facts).toMatchObject({
    Schedule: 'At 06:00, Monday through Friday',
    'At a time': '2 for each {{labels.service}}',
    'Budget of a run': '200\u202f000 tokens, $4.00',
  });
});

test('load problems stand under their file, errors first', () => {
  const problem = {
    severity: 'warning' as const,
    kind: 'Pipeline' as const,
    name: 'x',
    file: 'x.yaml',
    loc: [],
    msg: 'odd',
    line: 3,
  };
  const problems = [problem, { ...problem, file: 'y.yaml' }, { ...problem, severity: 'error' as const, msg: 'bad' }];
  expect(pipelinesView(snapshotOf({ ...LOADED, problems }), NOW).problems).toMatchObject([
    { file: 'x.yaml', rows: [{ word: 'Error', place: '3' }, { word: 'Warning' }] },
    { file: 'y.yaml', rows: [{ word: 'Warning' }], state: null },
  ]);
});

test('a broken file says whether its last good edition is in force, or nothing of it', () => {
  const error = { severity: 'error' as const, kind: 'Pipeline' as const, name: entry.name, loc: [], msg: 'bad' };
  const problems = [
    { ...error, file: entry.file },
    { ...error, file: 'other.yaml' },
  ];
  const states = pipelinesView(snapshotOf({ ...LOADED, problems }), NOW).problems.map(({ state }) => state);
  expect(states).toEqual([
    'The last version that loaded stays active until the error is fixed.',
    'Nothing in this file is active until the error is fixed.',
  ]);
});

test('the graph shows entries and branches, each leads to its step', () => {
  const view = pipelineView(definitions.pipelines[0]!, definitions, AROUND);
  expect(view.graph?.nodes).toMatchObject([
    { name: 'observe', note: 'machine-reader', href: '/ui/steps/observe', state: 'solid' },
    { name: 'both', note: 'all must pass' },
    { name: 'a', note: 'human' },
  ]);
  expect(view.graph).toMatchObject({ soft: false, of: 'this pipeline' });
});

test('the last runs are a strip, the newest at the end; five of them are rows', () => {
  const runs = Array.from({ length: 7 }, (_, at) =>
    runLine({ id: `run-${at}`, status: at === 0 ? 'failed' : 'completed' }),
  );
  const rows = runs.map((run) => runRow(run, { now: NOW, currency: 'USD' }));
  const view = pipelineView(definitions.pipelines[0]!, definitions, { ...AROUND, rows });
  expect([view.rows.length, view.strip.length]).toEqual([5, 7]);
  expect(view.strip.at(-1)).toMatchObject({ href: '/ui/runs/run-0', look: { tone: 'bad' } });
  expect(view.strip.at(-1)?.title).toContain('Failed');
});

test('what starts a pipeline is said: alerts in their order, its schedule, steps of others, a person', () => {
  const caller = {
    ...entry,
    name: 'caller',
    config: { steps: [{ name: 's', executor: 'pipeline', pipeline: 'swept' }] },
  };
  const swept = { ...entry, name: 'swept', config: { schedule: { cron: '0 6 * * *', timezone: 'Etc/UTC' } } };
  const second = { ...entry, name: 'second', config: { trigger: { match: { severity: 'critical' } } } };
  const all = snapshotOf({ pipelines: [entry, caller, swept, second] });
  const said = (name: string) => pipelineView(all.byName.get(name)!, all, AROUND).uses;
  expect(said('host-load')[0]).toMatchObject({ text: 'Alerts that match all 3 rules.', note: null });
  expect(said('second')[0]).toMatchObject({ note: '1 pipeline with rules comes before it in the load order.' });
  expect(said('swept')).toMatchObject([
    { text: 'No alert: it has no trigger.match.' },
    { text: 'Its schedule: At 06:00.' },
    { text: 'As a sub-run, a step of', links: [{ name: 'caller', href: '/ui/pipelines/caller' }] },
    { note: 'POST /pipelines/swept/run' },
  ]);
  const held = { ...entry, name: 'held', config: { ...entry.config, suspend: true } };
  const one = snapshotOf({ pipelines: [held] });
  expect(pipelineView(one.byName.get('held')!, one, AROUND).uses).toMatchObject([
    { text: 'Nothing, as long as it is suspended.' },
  ]);
});

test('steps of pipelines are listed in the order of their names, numbers by value', () => {
  const named = (name: string) => ({ name, executor: 'human', prompt_template: 'Go on?', timeout_seconds: 60 });
  const config = Pipeline.parse({ name: 'x', steps: ['look-10', 'Look-3', 'look-2'].map(named) });
  expect(pipelineSteps(snapshotOf({ pipelines: [{ ...entry, config }] })).map(({ name }) => name)).toEqual([
    'look-2',
    'Look-3',
    'look-10',
  ]);
});
