import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createMetrics } from '../observability/metrics.ts';

const page = readFileSync(join(import.meta.dirname, '../../../docs/objects.md'), 'utf8');
const sources = ['conditions.ts', 'promotion.ts', 'regression-free.ts', '../plan/judgement.ts'].map((file) =>
  readFileSync(join(import.meta.dirname, file), 'utf8'),
);

/** What is said when all is well needs no advice. */
const GOOD = new Set(['Accepted', 'Synced', 'Ready', 'RegressionFree']);
test('every reason of a condition is on the page, with what to do', () => {
  const said = sources.flatMap((text) =>
    [...text.matchAll(/(?:reason|[a-z_]+): '([A-Z][A-Za-z]+)'/g)].map(([, word]) => word ?? ''),
  );
  const reasons = new Set(
    said.filter(
      (word) => !GOOD.has(word) && !['True', 'False', 'Unknown', 'Pipeline', 'PromotionReady'].includes(word),
    ),
  );
  expect(reasons.size).toBeGreaterThan(15);
  expect([...reasons].filter((reason) => !page.includes(`\`${reason}\``))).toEqual([]);
});

test('every reason on the page is one that the controller gives', () => {
  const [table = ''] = page.split('## Conditions')[1]?.split('| reason | of')[1]?.split('\n\n') ?? [];
  const reasons = table
    .split('\n')
    .flatMap((row) => [...(row.split('|')[1] ?? '').matchAll(/`(\w+)`/g)].map(([, word]) => word ?? ''));
  expect(reasons.length).toBeGreaterThan(15);
  expect(reasons.filter((reason) => !sources.some((text) => text.includes(`'${reason}'`)))).toEqual([]);
});

test('every series of both roles is on the page', async () => {
  const { text } = await createMetrics().read();
  const series = [...text.matchAll(/^# TYPE (controller_(?!agent)\w+)/gm)].map(([, name]) => name ?? '');
  expect(series.length).toBeGreaterThan(8);
  expect(series.filter((name) => !page.includes(name))).toEqual([]);
});
