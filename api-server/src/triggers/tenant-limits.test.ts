import type { Tenant } from '@signalbox/crds';
import { expect, test } from 'vitest';
import { overTenantLimit, type TenantLoad } from './tenant-limits.ts';

const NOW = Date.parse('2026-11-23T06:00:00Z');
const loadOf = (activeRuns: number, tokens: number) => {
  const asked: string[] = [];
  const load: TenantLoad<null> = {
    activeRuns: () => Promise.resolve(activeRuns),
    tokensIn: (_tx, _namespace, month) => (asked.push(month), Promise.resolve(tokens)),
  };
  return { load, asked };
};
const over = (tenant: Tenant | null, load: TenantLoad<null>, also = 0) =>
  overTenantLimit(load, null, { standing: { namespace: 'shop', admitted: true, tenant } }, { now: NOW, also });

test.each([
  [2, 0, null],
  [3, 0, 'active runs'],
  [1, 2, 'active runs'],
  [1, 1, null],
])('%i active runs and %i of the same delivery against max_runs 3: %s', async (active, also, refusal) => {
  const said = await over({ max_runs: 3 }, loadOf(active, 0).load, also);
  if (refusal === null) return expect(said).toBeNull();
  expect(said).toContain(refusal);
});

test.each([
  [999, false],
  [1000, true],
  [1001, true],
])('%i tokens of a month of 1000', async (tokens, refused) => {
  const { load, asked } = loadOf(0, tokens);
  expect((await over({ max_tokens_month: 1000 }, load)) !== null).toBe(refused);
  expect(asked).toEqual(['2026-11']);
});

test('nothing is counted for a namespace without limits, and for a file', async () => {
  const load: TenantLoad<null> = { activeRuns: never, tokensIn: never };
  expect(await over({}, load)).toBeNull();
  expect(await over(null, load)).toBeNull();
});

function never(): never {
  throw new Error('counted');
}
