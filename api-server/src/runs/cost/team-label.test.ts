import { expect, test } from 'vitest';
import { endCounters } from '../evidence/step-execution.ts';
import { boundedTeams } from './team-label.ts';

test('the runs of one namespace make so many teams, all of them together some more, and known ones keep theirs', () => {
  const label = boundedTeams(['old'], { all: 6, ofNamespace: 2 });
  const of = (namespace: string | null, teams: (string | null)[]) => teams.map((team) => label({ namespace, team }));
  expect(of('shop', ['a', 'b', 'c', 'a', 'old', null])).toEqual(['a', 'b', 'other', 'a', 'old', null]);
  expect(of('pay', ['b', 'd'])).toEqual(['b', 'd']);
  expect(of(null, ['e', 'f', 'g', 'd'])).toEqual(['e', 'f', 'other', 'd']);
});

test('every series of a step that names its team has the label', () => {
  const part = {
    part: 'answer',
    executor: 'gateway',
    agent: 'a',
    model: 'm',
    provider: 'p',
    cost: 1,
    source: 'manual',
  };
  const run = { stage: 'production', namespace: 'shop', team: 'mine', pipeline: { name: 'x' } };
  const step = { stage: 'production', team: 'mine', pipelineName: 'x', stepName: 'one', executor: 'gateway' };
  const ended = { ...step, status: 'completed', startedAt: 0, completedAt: 0, groundingScore: null };
  const begun = { run, costs: [part] } as unknown as Parameters<typeof endCounters>[0];
  const counters = endCounters(begun, ended as unknown as Parameters<typeof endCounters>[1], {
    teamLabel: () => 'other',
  });
  const named = counters.filter(({ labels }) => labels.includes('other')).map(({ metric }) => metric);
  const expected = ['pipeline_tokens_total', 'pipeline_tokens_total', 'pipeline_cost_total', 'agent_cost_total'];
  expect(named).toEqual([...expected, 'team_spend']);
  expect(counters.filter(({ labels }) => labels.includes('mine'))).toEqual([]);
});
