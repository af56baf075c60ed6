import { describe, expect, test } from 'vitest';
import { AGENT_STEP, evaluate, HASH, pipelineOf, row, rows, stepOf } from './readiness.fixture.ts';

const ASKED = { operational: { min_runs: 2 } };
const saysVersion = (version: string) => (executor: string, agent: string) =>
  executor === 'gateway' && agent === 'investigator' ? version : null;

describe('what counts', () => {
  test('is the version that the backend says, not that of the newest execution', () => {
    const step = stepOf({ pipeline: pipelineOf(ASKED), rows: rows(5), versionOf: saysVersion('v2') });
    expect(step).toMatchObject({
      verdict: 'no_data',
      config: { agentVersion: 'v2', agentVersionSource: 'gateway', promptHashMatchesHistory: true },
      evidence: { rows: 0, firstSeenAt: null },
      notes: ['5 executions of an earlier prompt or agent version are left out.'],
    });
    expect(step.narrative[0]).toContain('5 executions of earlier ones no longer count');
  });

  test('is the prompt of the definition', () => {
    const step = stepOf({ pipeline: pipelineOf(ASKED), rows: rows(5, { promptHash: 'older' }) });
    expect(step).toMatchObject({ verdict: 'no_data', config: { promptHash: HASH, promptHashMatchesHistory: false } });
    expect(step.notes).toContain('The newest execution had another prompt than the definition has now.');
  });

  test('a call that failed before it had a version belongs to the one in use then', () => {
    const given = [
      row({ agentVersion: 'v1', startedAt: 10 }),
      row({ agentVersion: null, status: 'failed', startedAt: 15 }),
      row({ agentVersion: 'v2', startedAt: 20 }),
      row({ agentVersion: null, status: 'failed', startedAt: 25 }),
      row({ agentVersion: null, promptHash: null, status: 'failed', startedAt: 30 }),
      row({ agentVersion: null, promptHash: 'older', status: 'failed', startedAt: 31 }),
    ];
    const { tiers } = stepOf({ pipeline: pipelineOf(ASKED), rows: given });
    // The one at 15 may be of either: what may count against the present one does.
    expect(tiers.operational).toMatchObject({ executions: 4, failed: 3 });
  });

  test('an edition that only ever failed is judged by that', () => {
    const given = rows(3, { agentVersion: null, status: 'failed' });
    expect(stepOf({ pipeline: pipelineOf(ASKED), rows: given })).toMatchObject({ verdict: 'not_ready' });
  });

  test('without anybody who says a version all of one prompt count', () => {
    const given = rows(3, { agentVersion: null });
    expect(stepOf({ pipeline: pipelineOf(ASKED), rows: given })).toMatchObject({
      verdict: 'ready',
      config: { agentVersion: null, agentVersionSource: null },
    });
  });
});

describe('steps', () => {
  const human = { name: 'approve', executor: 'human', timeout_seconds: 9, prompt_template: 'Restart?' };
  const item = { executor: 'gateway', agent: 'sre', prompt_template: 'Check' };
  const branch = { ...AGENT_STEP, name: 'metrics', readiness: { operational: { min_runs: 7 } } };
  const steps = [
    { ...AGENT_STEP, readiness: { accuracy: { min_marked: 5 } } },
    { name: 'gather', when: 'severity == "critical"', parallel: { steps: [branch] }, readiness: { confidence: {} } },
    { name: 'each', fan_out: { over: 'vars.hosts', step: { ...item, readiness: { accuracy: {} } } } },
    human,
  ];
  const pipeline = pipelineOf({ operational: { min_runs: 30 }, accuracy: {}, confidence: { min_runs: 4 } }, steps);

  test('inherit tier by tier, the nearest wins as a whole', () => {
    const { steps: all } = evaluate({ pipeline, rows: [] });
    const told = all.map(({ step }) => [
      step.name,
      step.kind,
      step.executor,
      Object.entries(step.criteria).map(([tier, { source }]) => `${tier} of the ${source}`),
    ]);
    expect(told).toEqual([
      [
        'look',
        'step',
        'gateway',
        ['operational of the pipeline', 'confidence of the pipeline', 'accuracy of the step'],
      ],
      ['gather', 'parallel', 'parallel', ['operational of the pipeline', 'confidence of the step']],
      [
        'metrics',
        'branch',
        'gateway',
        ['operational of the step', 'confidence of the group', 'accuracy of the pipeline'],
      ],
      [
        'each',
        'fan_out',
        'gateway',
        ['operational of the pipeline', 'confidence of the pipeline', 'accuracy of the group'],
      ],
      ['approve', 'step', 'human', ['operational of the pipeline']],
    ]);
    expect(all[0]?.step.criteria.accuracy).toEqual({ min_accuracy: 0.85, min_marked: 5, source: 'step' });
    expect(all[2]?.step.when).toBe('severity == "critical"');
  });

  test('a tier that a step can have no evidence for is left out and named', () => {
    const approve = evaluate({ pipeline, rows: [row({ stepName: 'approve', agent: null })] }).steps.at(-1);
    expect(approve?.notes).toEqual([
      'confidence and accuracy cannot be judged of a step of executor human and are left out.',
    ]);
  });

  test('a fan-out has the evidence of its branches, a group its own', () => {
    const run = { runId: 'one', agent: 'sre', promptHash: null };
    const given = [
      row({ ...run, stepName: 'each', agent: null }),
      row({ ...run, stepName: 'each/0', agentVersion: null }),
      row({ ...run, stepName: 'each/1', agentVersion: null, status: 'failed' }),
      row({ ...run, stepName: 'gather', agent: null }),
      row({ ...run, stepName: 'look/0' }),
    ];
    const byName = Object.fromEntries(evaluate({ pipeline, rows: given }).steps.map((one) => [one.step.name, one]));
    expect(byName['each']?.combos).toMatchObject([{ executions: 1, runs: 1 }]);
    expect(byName['gather']?.tiers.operational).toMatchObject({ runs: 1, executions: 1 });
    expect(byName['look']?.combos).toEqual([]);
  });
});
