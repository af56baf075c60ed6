import { expect, test } from 'vitest';
import { boundedModels } from './model-label.ts';

test('after the most models that are kept apart, others share a label, and known ones keep theirs', () => {
  const label = boundedModels(['old'], 3);
  expect(['a', 'b', 'c', 'a', 'old', null].map(label)).toEqual(['a', 'b', 'other', 'a', 'old', null]);
});
