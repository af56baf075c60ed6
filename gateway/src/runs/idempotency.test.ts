import { expect, test } from 'vitest';
import { parametersHash } from './idempotency.ts';

const PARAMS = { agent: 'a', input: 'look', metadata: { run_id: 'r', pipeline: 'p' } };

test('a call is the same as that of a caller of before the upgrade, which did not say its namespace', () => {
  const now = { ...PARAMS, metadata: { ...PARAMS.metadata, namespace: 'shop' } };
  expect(parametersHash(now)).toBe(parametersHash(PARAMS));
  expect(parametersHash({ ...now, metadata: { ...now.metadata, pipeline: 'q' } })).not.toBe(parametersHash(PARAMS));
});
