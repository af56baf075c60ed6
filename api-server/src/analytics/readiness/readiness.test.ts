import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { AGENT_STEP, evaluate, HASH, pipelineOf, row, rows, RULE, stepOf } from './readiness.fixture.ts';
import { batchOf, type EvidenceRow } from './executions.ts';
import { evaluateReadiness, startEvidence } from './readiness.ts';
import { subjectOf } from './steps.ts';

const ALL = {
  operational: { min_runs: 3 },
  confidence: { min_runs: 3 },
  accuracy: { min_marked: 2 },
  calibration: { n_min: 2 },
};
const good = (n: number) => rows(n, { stepOutcome: 'correct' });

describe('the verdict of a step', () => {
  test.each([
    ['nothing is asked of it', undefined, good(5), 'not_configured'],
    ['it has not run', ALL, [], 'no_data'],
    ['runs are missing', ALL, good(2), 'building'],
    ['nobody marked it', { accuracy: {} }, rows(30), 'building'],
    ['all tiers hold', ALL, good(3), 'ready'],
    ['marks are bad', ALL, rows(3, { stepOutcome: 'incorrect' }), 'not_ready'],
    [
      'one tier is bad and another has too little',
      { accuracy: { min_marked: 2 }, operational: {} },
      rows(2, { stepOutcome: 'incorrect' }),
      'not_ready',
    ],
  ])('where %s', (_, readiness, given, expected) => {
    const report = evaluate({ pipeline: pipelineOf(readiness), rows: given });
    expect(report.steps[0]?.verdict).toBe(expected);
    expect(report.verdict).toBe(expected);
    expect(report.summary).toMatchObject({ [expected]: 1, total: 1 });
  });
});

describe('the tiers are independent', () => {
  const tiers = (given: EvidenceRow[]) => stepOf({ pipeline: pipelineOf(ALL), rows: given }).tiers;

  test('what a gate holds back did not fail, but is not sure', () => {
    const held = rows(3, { status: 'escalated', errorType: 'gate', confidence: 0.5 });
    expect(tiers(held)).toMatchObject({
      operational: { verdict: 'ready', failed: 0 },
      confidence: { verdict: 'not_ready', passed: 0, passRate: 0 },
    });
  });

  test.each([
    ['failed', 'timeout', 1],
    ['aborted', 'shell_not_allowed', 1],
    ['escalated', 'budget', 1],
    ['aborted', 'gate', 0],
    ['aborted', 'rejected', 0],
    ['stopped', 'stopped', 0],
    ['completed', null, 0],
  ])('an execution that %s of %s counts %i as failed', (status, errorType, failed) => {
    expect(tiers([row({ status, errorType })]).operational.failed).toBe(failed);
  });

  test.each(['running', 'skipped', 'cancelled'])('one that is %s is no evidence', (status) => {
    expect(tiers(rows(3, { status })).operational).toMatchObject({ verdict: 'no_data', executions: 0 });
  });

  test('a failed check passes no gate; grounding lowers trust only where it is enforced', () => {
    const enforced = { ...AGENT_STEP, grounding: { agent: 'judge', enforce: true } };
    const given = [row({ checkFailed: true }), row({ grounding: 0.1 }), row()];
    const passed = (steps: object[]) =>
      stepOf({ pipeline: pipelineOf(ALL, steps), rows: given }).tiers.confidence.passed;
    expect(passed([AGENT_STEP])).toBe(2);
    expect(passed([enforced])).toBe(1);
  });

  test('the threshold is the one that the step has now', () => {
    const strict = pipelineOf(ALL, [{ ...AGENT_STEP, confidence_threshold: 0.9 }]);
    expect(stepOf({ pipeline: strict, rows: rows(3) }).tiers.confidence).toMatchObject({
      verdict: 'not_ready',
      passed: 0,
    });
  });

  test('an answer without a confidence runs and is not sure of anything', () => {
    expect(tiers(rows(3, { confidence: null }))).toMatchObject({
      operational: { verdict: 'ready' },
      confidence: { verdict: 'building', answers: 0 },
    });
  });
});

describe('labels', () => {
  test.each([
    ['the mark of the step', { stepOutcome: 'correct', checkFailed: true, runOutcome: 'incorrect' }, [1, 0, 0]],
    ['else a failed check', { checkFailed: true, runOutcome: 'correct' }, [0, 0, 1]],
    ['else the mark of the run', { checkFailed: false, runOutcome: 'partial' }, [0, 1, 0]],
    ['else there is none', {}, [0, 0, 0]],
  ] as const)('%s', (_, values, [correct, partial, incorrect]) => {
    expect(stepOf({ pipeline: pipelineOf(ALL), rows: [row(values)] }).tiers.accuracy).toMatchObject({
      correct,
      partial,
      incorrect,
    });
  });

  test('a partial one counts half', () => {
    const given = [...good(1), ...rows(1, { stepOutcome: 'partial' })];
    expect(stepOf({ pipeline: pipelineOf(ALL), rows: given }).tiers.accuracy).toMatchObject({
      accuracy: 0.75,
      verdict: 'not_ready',
    });
  });
});

describe('calibration', () => {
  const asked = { calibration: { n_min: 4, max_gap: 0.2 } };
  const at = (confidence: number, correct: number, incorrect: number) => [
    ...rows(correct, { confidence, stepOutcome: 'correct' }),
    ...rows(incorrect, { confidence, stepOutcome: 'incorrect' }),
  ];
  const tier = (given: EvidenceRow[], rule = {}) =>
    stepOf({ pipeline: pipelineOf(asked), rows: given, rule }).tiers.calibration;

  test.each([
    ['one that is too sure is not ready', at(0.95, 2, 2), 'not_ready'],
    ['one that is less sure than right is', at(0.5, 4, 0), 'ready'],
    ['below n_min nothing is known', at(0.95, 1, 2), 'building'],
    ['most of what it says must be measured', [...at(0.9, 4, 0), ...rows(5, { confidence: 0.6 })], 'building'],
    ['half of it is enough', [...at(0.9, 4, 0), ...rows(4, { confidence: 0.6 })], 'ready'],
    ['what is bad already need not wait for more', [...at(0.9, 1, 3), ...rows(50, { confidence: 0.6 })], 'not_ready'],
  ])('%s', (_, given, expected) => {
    expect(tier(given).verdict).toBe(expected);
  });

  test('who asks with another n_min or bin width is answered with that', () => {
    expect(tier(at(0.95, 2, 2), { nMin: 5 })).toMatchObject({ verdict: 'building', nMin: 5, fullestBin: 4 });
    expect(tier(at(0.95, 2, 2), { binWidth: 0.25 }).bins).toHaveLength(4);
  });

  test('where criteria name no n_min that of the service holds', () => {
    expect(stepOf({ pipeline: pipelineOf({ calibration: {} }), rows: at(0.8, 19, 0) }).tiers.calibration).toMatchObject(
      {
        verdict: 'building',
        nMin: 20,
      },
    );
  });
});

describe('properties', () => {
  const outcome = fc.constantFrom('correct', 'partial', 'incorrect', null);
  const execution = fc.record({
    stepOutcome: outcome,
    runOutcome: outcome,
    checkFailed: fc.boolean(),
    confidence: fc.option(fc.double({ min: 0, max: 1, noNaN: true })),
    status: fc.constantFrom('completed', 'failed', 'escalated', 'aborted', 'stopped', 'cancelled'),
  });
  const executions = fc.array(execution, { maxLength: 40 }).map((all) => all.map((values) => row(values)));
  const pipeline = pipelineOf({
    operational: { min_runs: 5 },
    confidence: { min_runs: 5 },
    accuracy: { min_marked: 5, min_accuracy: 0.6 },
  });
  const tiersOf = (given: EvidenceRow[]) => stepOf({ pipeline, rows: given }).tiers;

  test('a correct mark never takes accuracy from ready', () => {
    fc.assert(
      fc.property(executions, (given) => {
        const before = tiersOf(given).accuracy.verdict;
        const after = tiersOf([...given, row({ stepOutcome: 'correct' })]).accuracy.verdict;
        expect(before === 'ready' && after !== 'ready').toBe(false);
      }),
    );
  });

  test('a mark that turns correct never takes accuracy from ready', () => {
    fc.assert(
      fc.property(executions, fc.nat(), (given, at) => {
        const before = tiersOf(given).accuracy.verdict;
        const better = given.map((one, i) =>
          i === at % given.length ? { ...one, stepOutcome: 'correct' as const } : one,
        );
        expect(before === 'ready' && tiersOf(better).accuracy.verdict !== 'ready').toBe(false);
      }),
    );
  });

  test('a failure never makes operational ready, a good run never takes it from ready', () => {
    fc.assert(
      fc.property(executions, (given) => {
        const before = tiersOf(given).operational.verdict;
        const failed = tiersOf([...given, row({ status: 'failed' })]).operational;
        const better = tiersOf([...given, row()]).operational;
        expect(before === 'not_ready' && failed.verdict === 'ready').toBe(false);
        expect(before === 'ready' && better.verdict !== 'ready').toBe(false);
      }),
    );
  });

  test('the order of executions and the marks of other editions change nothing', () => {
    fc.assert(
      fc.property(executions, (given) => {
        const older = given.map((one) => ({ ...one, promptHash: 'older', run: -one.run }));
        expect(tiersOf([...older, ...given.toReversed()])).toEqual(tiersOf(given));
      }),
    );
  });

  test('the counts of a summary add up', () => {
    fc.assert(
      fc.property(executions, (given) => {
        const { total, ...counts } = evaluate({ pipeline, rows: given }).summary;
        expect(Object.values(counts).reduce((a, b) => a + b, 0)).toBe(total);
      }),
    );
  });
});

test('current_config and observed_combos say which edition counts', () => {
  const given = [...rows(3, { agentVersion: 'v1', startedAt: 10 }), ...rows(2, { agentVersion: 'v2', startedAt: 20 })];
  const step = stepOf({ pipeline: pipelineOf(ALL), rows: given });
  expect(step.config).toEqual({
    promptHash: HASH,
    promptHashSource: 'definition',
    agentVersion: 'v2',
    agentVersionSource: 'history',
    promptHashMatchesHistory: true,
  });
  expect(step.evidence).toMatchObject({ runsTotal: 2, rowsTotal: 2 });
  expect(step.combos).toMatchObject([
    { agentVersion: 'v1', rowsTotal: 3, current: false },
    { agentVersion: 'v2', rowsTotal: 2, current: true },
  ]);
});

test('a run whose executions were read in several pages is one run', () => {
  const run = (seq: number, at: number) =>
    row({ run: seq, stepName: `each/${at}`, agentVersion: at % 2 === 0 ? 'v1' : 'v2', startedAt: 1_000 + at });
  const { name: _, ...item } = AGENT_STEP;
  const each = { name: 'each', fan_out: { over: 'vars.hosts', step: item } };
  const subject = subjectOf(pipelineOf(undefined, [each]));
  const read = (pages: EvidenceRow[][]) => {
    const evidence = startEvidence(subject);
    for (const page of pages) evidence.add(batchOf([...new Set(page.map((one) => one.run))], page));
    return evaluateReadiness(subject, { evidence, versionOf: () => 'v1', at: 5_000, cut: false }, RULE);
  };
  const [newer, large, older] = [[run(9, 0), run(8, 1)], [1, 2, 3, 4, 5, 6].map((at) => run(7, at)), [run(6, 8)]];
  const [first, second, third] = [large.slice(0, 2), large.slice(2, 4), large.slice(4)];
  const paged = read([newer, first, second, third, older]);
  expect(paged.steps[0]?.evidence).toMatchObject({ rowsTotal: 5, runsTotal: 3 });
  expect(paged).toEqual(read([[...newer, ...large, ...older]]));
});
