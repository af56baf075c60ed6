import { expect, test } from 'vitest';
import { camelCase, snakeCase } from './key-case.ts';

test('keys change their case, values and nested keys stay', () => {
  const labels = { teamName: 'a', cost_center: 1 };
  const snake = snakeCase({ id: 1, runId: 'r', nMin: 2, labels });
  expect(snake).toEqual({ id: 1, run_id: 'r', n_min: 2, labels });
  expect(snake.labels).toBe(labels);
  expect(camelCase(snake)).toEqual({ id: 1, runId: 'r', nMin: 2, labels });
});
