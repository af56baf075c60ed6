import { Readiness } from '@signalbox/crds';
import { expect, test } from 'vitest';
import { TIERS } from './knobs.ts';

test('the form has every tier and knob of the contract, with its default', () => {
  const everyTier = Object.fromEntries(TIERS.map(({ tier }) => [tier, {}]));
  const defaults = TIERS.map(({ tier, knobs }) => [
    tier,
    Object.fromEntries(knobs.flatMap(({ key, fallback }) => (fallback === '' ? [] : [[key, Number(fallback)]]))),
  ]);
  expect(Object.keys(Readiness.shape)).toEqual(TIERS.map(({ tier }) => tier));
  expect(Readiness.parse(everyTier)).toEqual(Object.fromEntries(defaults));
  for (const { tier, knobs } of TIERS)
    expect(Object.keys(Readiness.shape[tier].unwrap().shape).toSorted()).toEqual(
      knobs.map(({ key }) => key).toSorted(),
    );
});
