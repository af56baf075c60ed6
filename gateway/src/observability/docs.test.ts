import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Metrics } from './metrics.ts';

const page = readFileSync(join(import.meta.dirname, '../../../docs/operations.md'), 'utf8');

test('docs/operations.md names every metric of the gateway, and no other', async () => {
  const none = { activeRuns: () => 0, queuedRuns: () => 0, agents: () => 0, connections: () => 0 };
  const text = await new Metrics({ ...none, servers: () => [], pods: () => [] }).text();
  const served = [...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name);
  expect(served.length).toBeGreaterThan(10);
  const documented = [...page.matchAll(/`(gateway_\w+)/g)].map(([, name]) => name);
  expect([...new Set(documented)].toSorted()).toEqual(served.toSorted());
});
