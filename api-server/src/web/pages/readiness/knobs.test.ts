import { Readiness } from '@signalbox/crds';
import { expect, test } from 'vitest';
import { fallbackOf, TIERS } from './knobs.ts';

test('the form has every tier and knob of the contract', () => {
  expect(Object.keys(Readiness.shape)).toEqual(TIERS.map(({ tier }) => tier));
  for (const { tier, knobs } of TIERS)
    expect(Object.keys(Readiness.shape[tier].unwrap().unwrap().shape).toSorted()).toEqual(
      knobs.map(({ key }) => key).toSorted(),
    );
});

test('a field left empty shows the default of the contract, or nothing where the service has a setting', () => {
  expect([fallbackOf('accuracy', 'min_accuracy'), fallbackOf('operational', 'min_runs')]).toEqual(['0.85', '20']);
  expect(fallbackOf('calibration', 'n_min')).toBe('');
});
