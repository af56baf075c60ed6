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
      evidence: { rowsTotal: 0, firstSeenAt: null },
      notes: ['5 executions of an earlier prompt or agent version are left out.'],
    });
    expect(step.narrative[0]).toContain('5 executions of earlier ones no longer count');
  });

  test('is the prompt of the definition', () => {
    const step = stepOf({ pipeline: pipelineOf(ASKED), rows: rows(5, { promptHash: 'older' }) });
    expect(step).toMatchObject({ verdict: 'no_data', config: { promptHash: HASH, promptHashMatchesHistory: false } });
    expect(step.notes).toContain('The newest execution had another prompt than the definition has now.');
  });

  test.each([
    ['between the two, like the one that came next', 15, 'v2', true],
    ['before all, like the first', 5, 'v1', true],
    ['before all, and not like the last', 5, 'v2', false],
    ['after all, like what is in force', 40, 'v2', true],
    ['after all, like what is in force, never seen before', 40, 'v3', true],
    ['and not like one that was given up', 15, 'v1', false],
  ])('a call that failed before it had a version counts %s', (_, startedAt, version, counts) => {
    const given = [
      row({ agentVersion: 'v1', startedAt: 10 }),
      row({ agentVersion: 'v2', startedAt: 20 }),
      row({ agentVersion: 'v2', startedAt: 30 }),
      row({ agentVersion: null, status: 'failed', startedAt }),
    ];
    const { tiers, notes } = stepOf({ pipeline: pipelineOf(ASKED), rows: given, versionOf: saysVersion(version) });
    expect(tiers.operational.failed).toBe(counts ? 1 : 0);
    expect(notes[0]).toMatch(/^\d executions? of an earlier prompt or agent version (is|are) left out\.$/);
  });

  test('a version that was taken up again does not answer for what failed under another', () => {
    const given = [
      row({ agentVersion: 'v1', startedAt: 10 }),
      row({ agentVersion: null, status: 'failed', startedAt: 15 }),
      row({ agentVersion: 'v2', startedAt: 20 }),
      row({ agentVersion: 'v1', startedAt: 30 }),
    ];
    const failed = (version: string) =>
      stepOf({ pipeline: pipelineOf(ASKED), rows: given, versionOf: saysVersion(version) }).tiers.operational.failed;
    expect([failed('v1'), failed('v2')]).toEqual([0, 1]);
  });

  test('a call that failed with another prompt is another edition', () => {
    const failing = { agentVersion: null, status: 'failed' };
    const given = [row({ ...failing, promptHash: 'older' }), row({ ...failing, promptHash: null }), row(failing)];
    expect(stepOf({ pipeline: pipelineOf(ASKED), rows: given }).tiers.operational).toMatchObject({ failed: 2 });
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
    expect(all[0]?.step.criteria.accuracy).toEqual({
      min_accuracy: 0.85,
      min_marked: 5,
      source: 'step',
      written: ['min_marked'],
    });
    expect(all[2]?.step.when).toBe('severity == "critical"');
  });

  test('a tier that a step can have no evidence for is left out and named', () => {
    const approve = evaluate({ pipeline, rows: [row({ stepName: 'approve', agent: null })] }).steps.at(-1);
    expect(approve?.notes).toEqual([
      'Confidence and accuracy cannot be judged of a step of executor human and are left out.',
    ]);
  });

  test('a fan-out has the evidence of its branches, a group its own', () => {
    const run = { run: 1, agent: 'sre', promptHash: null };
    const given = [
      row({ ...run, stepName: 'each', agent: null }),
      row({ ...run, stepName: 'each/0', agentVersion: null }),
      row({ ...run, stepName: 'each/1', agentVersion: null, status: 'failed' }),
      row({ ...run, stepName: 'gather', agent: null }),
      row({ ...run, stepName: 'look/0' }),
    ];
    const byName = Object.fromEntries(evaluate({ pipeline, rows: given }).steps.map((one) => [one.step.name, one]));
    expect(byName['each']?.combos).toMatchObject([{ rowsTotal: 1, runsTotal: 1 }]);
    expect(byName['gather']?.tiers.operational).toMatchObject({ runs: 1, executions: 1 });
    expect(byName['look']?.combos).toEqual([]);
  });
});
