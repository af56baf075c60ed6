import { expect, test } from 'vitest';
import { readinessReport, readinessStep } from '../fixtures/readiness.ts';
import { readinessCard, type ReadinessInput } from './view.ts';

const NOW = Date.parse('2026-11-21T12:00:00Z');
const card = (values: Partial<ReadinessInput> = {}) =>
  readinessCard({
    name: 'host-load',
    config: {},
    report: readinessReport([readinessStep()]),
    whatIf: null,
    tried: null,
    now: NOW,
    ...values,
  });
const building = readinessStep({
  verdict: 'building',
  narrative: ['Accuracy: not enough yet; 7 of 20 marked results; 13 more to go.'],
  tiers: {
    accuracy: {
      verdict: 'building',
      reason: '7 of 20 marked results; 13 more to go.',
      marked: 7,
      min_marked: 20,
      accuracy: 1,
    },
  },
});

test('steps stand against tiers, each with icon, word, a number and a sentence', () => {
  const view = card({ report: readinessReport([building], { verdict: 'building' }) });
  expect(view.columns.map(({ title }) => title)).toEqual(['Operational', 'Confidence', 'Accuracy', 'Calibration']);
  expect(view.rows[0]).toMatchObject({
    name: 'look',
    look: { word: 'Collecting evidence', tone: 'wait', icon: 'queued' },
  });
  expect(view.rows[0]?.cells.map(({ look, figure }) => [look.word, figure])).toEqual([
    ['Ready', '100% went well'],
    ['Not required', ''],
    ['Collecting evidence', '7 of 20 marked'],
    ['Not required', ''],
  ]);
  expect(view.rows[0]?.cells[2]?.reason).toBe('7 of 20 marked results; 13 more to go.');
  expect(view).toMatchObject({ lead: '0 of 1 step ready.', evidence: 'Evidence of testing runs, gathered just now' });
});

test.each([
  [{ worst_gap: null, fullest_bin: 7, n_min: 10 }, 'building', '7 of 10 in a bin'],
  [{ worst_gap: 0, coverage: 0.4 }, 'building', '40% measured'],
  [{ worst_gap: -0.1, coverage: 1 }, 'ready', 'never too sure'],
  [{ worst_gap: 0.299, coverage: 1 }, 'not_ready', '29 points too sure'],
] as const)('where calibration stands: %j', (numbers, verdict, figure) => {
  const { calibration } = readinessStep().tiers;
  const step = readinessStep({ tiers: { calibration: { ...calibration, verdict, ...numbers } } });
  expect(card({ report: readinessReport([step]) }).rows[0]?.cells[3]?.figure).toBe(figure);
});

test('what holds a step back is open, what is ready is folded', () => {
  const steps = [
    building,
    readinessStep({ step_name: 'done' }),
    readinessStep({ step_name: 'free', verdict: 'not_configured' }),
  ];
  expect(card({ report: readinessReport(steps, { verdict: 'building' }) }).explanations).toMatchObject([
    { name: 'look', open: true, sentences: [expect.stringContaining('13 more to go')] },
    { name: 'done', open: false },
  ]);
});

test('where many steps are held back, none is open', () => {
  const steps = Array.from({ length: 6 }, (_, at) => ({ ...building, step_name: `look-${at}` }));
  const { explanations } = card({ report: readinessReport(steps, { verdict: 'building' }) });
  expect(explanations.map(({ open }) => open)).toEqual(Array.from({ length: 6 }, () => false));
});

test.each([
  ['testing', '1 of 1 step ready: it is ready for production.'],
  ['production', '1 of 1 step ready: it meets its criteria.'],
] as const)('what is ready at stage %s is told', (pipeline_stage, lead) => {
  expect(card({ report: readinessReport([readinessStep()], { pipeline_stage }) }).lead).toBe(lead);
});

test('a pipeline without criteria shows how to write some', () => {
  const report = readinessReport([readinessStep({ verdict: 'not_configured' })], {
    criteria_source: 'none',
    verdict: 'not_configured',
  });
  expect(card({ report })).toMatchObject({
    isAsked: false,
    lead: 'This pipeline has no readiness criteria yet.',
    example: expect.stringMatching(/^readiness:\n {2}operational:/),
  });
});

test('a preview shows its own matrix, what would change and the text to paste', () => {
  const tried = {
    ...readinessReport([readinessStep()]),
    applied_to: ['look'],
    scope: 'step' as const,
    evidence_gathered_at: '2026-11-21T12:00:00.000Z',
    evidence_cache_hit: false,
    yaml_snippet: 'readiness:\n  accuracy:\n    min_marked: 7\n',
    yaml_snippet_indented: 'readiness:\n  accuracy:\n    min_marked: 7\n',
    yaml_target_hint: 'In host-load.yaml, pipeline "host-load": below line 1.',
  };
  const view = card({
    report: readinessReport([building], { verdict: 'building' }),
    whatIf: { readiness: { accuracy: { min_marked: 7 } }, applyTo: 'look' },
    tried: { kind: 'tried', report: tried },
  });
  expect(view.rows[0]?.look.word).toBe('Ready');
  expect(view.preview).toEqual({
    title: 'With these criteria: ready',
    change: 'Today it is collecting evidence.',
    yaml: 'readiness:\n  accuracy:\n    min_marked: 7',
    hint: 'In host-load.yaml, pipeline "host-load": below line 1.',
  });
  expect(view.form.open).toBe(true);
  expect(view.form.places).toMatchObject([
    { value: '', chosen: false },
    { value: 'look', chosen: true },
  ]);
});

test('criteria that do not fit are told, and the real matrix stays', () => {
  const problems = [{ field: 'accuracy.min_marked', msg: 'must be at least 1' }];
  const view = card({ tried: { kind: 'invalid', problems }, whatIf: { readiness: {}, applyTo: null } });
  expect(view).toMatchObject({ problems, preview: null, isPreview: false });
});
