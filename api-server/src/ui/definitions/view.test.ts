import { expect, test } from 'vitest';
import { NOW } from '../fixtures/runs.ts';
import { agentsView, pipelinesView, pipelineView, problemRows, stepsView } from './view.ts';

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
      { name: 'both', parallel: { steps: [{}, {}] } },
    ],
  },
};
const library = { ...entry, name: 'read-machine', config: { executor: 'gateway', agent: 'machine-reader' } };
const definitions = { pipelines: [entry], steps: [library], problems: [], loadedAt: NOW };

test('a pipeline says what it matches in words', () => {
  const [row] = pipelinesView(definitions, NOW).rows;
  expect(row).toMatchObject({
    testing: false,
    trigger: 'severity = critical, alertname ~ ^Host, labels.ns in shop | canary',
    steps: 2,
  });
});

test.each([
  [undefined, 'Only when named'],
  [{}, 'Everything'],
])('a match of %j reads %s', (match, words) => {
  const [row] = pipelinesView({ ...definitions, pipelines: [{ ...entry, config: { trigger: { match } } }] }, NOW).rows;
  expect(row!.trigger).toBe(words);
});

test('steps, lines of YAML and places of problems are counted from one', () => {
  const view = pipelineView(entry, definitions, []);
  expect(view.entries).toMatchObject([
    { number: 1, name: 'observe', shape: 'gateway · machine-reader', threshold: '0.75' },
    { number: 2, shape: 'parallel · 2 branches' },
  ]);
  expect(view.yaml).toEqual([
    { number: 1, text: 'name: host-load' },
    { number: 2, text: 'steps: []' },
  ]);
  const problem = {
    severity: 'error' as const,
    kind: 'Pipeline',
    name: 'x',
    file: 'x.yaml',
    loc: ['steps', 2],
    msg: 'no',
    line: 14,
    col: 3,
  };
  expect(problemRows([{ ...problem, severity: 'warning' }, problem])).toMatchObject([
    { word: 'Error', place: 'x.yaml:14:3', loc: 'steps.2' },
    { word: 'Warning' },
  ]);
});

test('library steps and agents name their users, a backend that is down is told', () => {
  expect(stepsView(definitions, NOW).rows).toMatchObject([{ name: 'read-machine', users: 1 }]);
  const view = agentsView(
    { agents: [{ name: 'machine-reader', executor: 'gateway', model: null }], errors: { external: 'refused' } },
    definitions,
  );
  expect(view).toMatchObject({
    rows: [{ model: '–', users: [{ name: 'host-load' }] }],
    errors: [{ backend: 'external', message: 'refused' }],
  });
});
