import { expect, test } from 'vitest';
import { readinessStep } from '../fixtures/readiness.ts';
import { readWhatIf, whatIfForm } from './what-if.ts';

test('an address without the form tries nothing', () => {
  expect(readWhatIf({ 'accuracy.min_marked': '10', accuracy: 'on' })).toBeNull();
});

test('ticked tiers count, with the knobs that are filled in', () => {
  const query = {
    whatif: '1',
    operational: 'on',
    'operational.min_runs': ' 10 ',
    'operational.min_success_rate': '.9',
    accuracy: 'on',
    'accuracy.min_marked': '',
    'confidence.min_runs': '5',
    apply_to: 'look',
  };
  expect(readWhatIf(query)).toEqual({
    readiness: { operational: { min_runs: 10, min_success_rate: 0.9 }, accuracy: {} },
    applyTo: 'look',
  });
});

test.each([
  ['ten', 'ten'],
  ['1e9', '1e9'],
  ['-1', '-1'],
  ['0.5.5', '0.5.5'],
  ['9'.repeat(500), Number('9'.repeat(40))],
])('what is no plain number is left to the contract to refuse: %s', (text, expected) => {
  const query = { whatif: '1', accuracy: 'on', 'accuracy.min_marked': text, apply_to: ['look'] };
  expect(readWhatIf(query)).toEqual({ readiness: { accuracy: { min_marked: expected } }, applyTo: null });
});

test('the form begins with what the pipeline asks for, else with a proposal', () => {
  const asked = (config: object) =>
    whatIfForm(config as Record<string, unknown>, [readinessStep()], null)
      .tiers.filter((tier) => tier.asked)
      .map(({ tier, knobs }) => [tier, knobs.map(({ value }) => value)]);
  expect(asked({ readiness: { calibration: { n_min: 30, max_gap: 0.2, min_coverage: 0.5 } } })).toEqual([
    ['calibration', ['30', '0.2', '']],
  ]);
  expect(asked({})).toEqual([
    ['operational', ['', '', '', '']],
    ['accuracy', ['', '', '']],
  ]);
});

test('who takes every tick away gets the form back as it was sent', () => {
  const { tiers } = whatIfForm({}, [readinessStep()], { readiness: {}, applyTo: null });
  expect(tiers.filter(({ asked }) => asked)).toEqual([]);
});

test('statuses are words with commas between them, there and back', () => {
  const query = { whatif: '1', operational: 'on', 'operational.acceptable_statuses': 'completed, stopped' };
  const tried = readWhatIf(query);
  expect(tried?.readiness).toEqual({ operational: { acceptable_statuses: ['completed', 'stopped'] } });
  const knobs = whatIfForm({}, [readinessStep()], tried).tiers[0]?.knobs ?? [];
  expect(knobs.find(({ name }) => name.endsWith('statuses'))?.value).toBe('completed,stopped');
});

test('a tier that the pipeline exempts is not ticked', () => {
  const { tiers } = whatIfForm({ readiness: { operational: null } }, [readinessStep()], null);
  expect(tiers.filter(({ asked }) => asked)).toEqual([]);
});
