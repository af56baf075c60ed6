import { Pipeline } from '@signalbox/crds';
import { describe, expect, test } from 'vitest';
import { AGENT_STEP, evaluate, pipelineOf, row, rows, stepOf } from './readiness.fixture.ts';

const RARE = { name: 'rarely', executor: 'webhook', url: 'https://example.com/', when: 'severity == "critical"' };
const ASKED = { operational: { min_runs: 3 }, accuracy: { min_marked: 2 } };
const good = (n: number) => rows(n, { stepOutcome: 'correct' });
const DAY = 86_400_000;

describe('exemption', () => {
  test('a step that rarely runs keeps its pipeline at building until it is exempt', () => {
    const verdicts = (rare: object) => {
      const report = evaluate({ pipeline: pipelineOf(ASKED, [AGENT_STEP, { ...RARE, ...rare }]), rows: good(3) });
      return [report.verdict, report.steps[1]?.verdict];
    };
    expect(verdicts({})).toEqual(['building', 'no_data']);
    expect(verdicts({ readiness: null })).toEqual(['ready', 'not_configured']);
    expect(verdicts({ readiness: { operational: null } })).toEqual(['ready', 'not_configured']);
    expect(verdicts({ readiness: { accuracy: null } })).toEqual(['building', 'no_data']);
  });

  test('says so, and the other tiers are asked as before', () => {
    const pipeline = pipelineOf(ASKED, [{ ...AGENT_STEP, readiness: { accuracy: null } }]);
    const step = stepOf({ pipeline, rows: rows(3) });
    expect([step.verdict, step.tiers.accuracy.verdict, step.notes.at(-1)]).toEqual([
      'ready',
      'not_configured',
      'Exempt from accuracy.',
    ]);
    const none = stepOf({ pipeline: pipelineOf(ASKED, [{ ...AGENT_STEP, readiness: null }]), rows: rows(3) });
    expect(none.narrative).toEqual(['This step is exempt: nothing is asked of it.']);
  });

  test('the nearest word counts: a branch may be asked although its group is exempt', () => {
    const branches = [AGENT_STEP, { ...AGENT_STEP, name: 'other', readiness: { operational: { min_runs: 1 } } }];
    const group = { name: 'both', readiness: null, parallel: { steps: branches } };
    const { steps } = evaluate({ pipeline: pipelineOf(ASKED, [group]), rows: [row({ stepName: 'other' })] });
    expect(steps.map(({ step, verdict }) => [step.name, verdict])).toEqual([
      ['both', 'not_configured'],
      ['look', 'not_configured'],
      ['other', 'ready'],
    ]);
  });

  test.each([null, { operational: null, confidence: null, accuracy: null, calibration: null }])(
    'the contract takes %j',
    (readiness) => {
      const steps = [{ ...AGENT_STEP, readiness }];
      expect(Pipeline.parse({ name: 'checkout', steps }).steps[0]).toMatchObject({ readiness });
    },
  );
});

describe('knobs', () => {
  const tiers = (readiness: object, given = good(3)) => stepOf({ pipeline: pipelineOf(readiness), rows: given }).tiers;

  test('max_age_days leaves older executions out of the operational tier alone', () => {
    const old = rows(3, { startedAt: 5_000 - 2 * DAY, status: 'failed', stepOutcome: 'correct' });
    const given = [...old, ...good(2)];
    expect(tiers({ operational: { min_runs: 2 } }, given).operational).toMatchObject({
      verdict: 'not_ready',
      executions: 5,
      failed: 3,
    });
    expect(tiers({ operational: { min_runs: 2, max_age_days: 1 }, accuracy: { min_marked: 5 } }, given)).toMatchObject({
      operational: { verdict: 'ready', runs: 2, executions: 2, failed: 0, maxAgeDays: 1 },
      accuracy: { verdict: 'ready', marked: 5 },
    });
  });

  test('acceptable_statuses take the place of the rule of failures', () => {
    const held = rows(2, { status: 'escalated', errorType: 'gate' });
    const operational = { min_runs: 4 };
    expect(tiers({ operational }, [...good(2), ...held]).operational).toMatchObject({ verdict: 'ready', failed: 0 });
    const strict = { operational: { ...operational, acceptable_statuses: ['completed'] } };
    expect(tiers(strict, [...good(2), ...held]).operational).toMatchObject({ verdict: 'not_ready', failed: 2 });
    const lenient = { operational: { ...operational, acceptable_statuses: ['completed', 'failed'] } };
    expect(tiers(lenient, rows(4, { status: 'failed' })).operational).toMatchObject({ verdict: 'ready', failed: 0 });
  });

  test('min_human_marked counts the marks of the step itself', () => {
    const accuracy = { min_marked: 4, min_accuracy: 0, min_human_marked: 2 };
    const others = [...rows(3, { runOutcome: 'correct' }), row({ checkFailed: true })];
    expect(tiers({ accuracy }, [...others, ...good(1)]).accuracy).toMatchObject({
      verdict: 'building',
      marked: 5,
      humanMarked: 1,
    });
    expect(tiers({ accuracy }, [...others, ...good(2)]).accuracy).toMatchObject({ verdict: 'ready', humanMarked: 2 });
    const step = stepOf({ pipeline: pipelineOf({ accuracy }), rows: [...others, ...good(1)] });
    expect(step.narrative[0]).toContain('1 of 2 results marked by a person; 1 more to go.');
  });
});
