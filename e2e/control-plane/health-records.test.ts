import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { ROOT } from '../support/start-service.ts';
import { recordHealth } from './health-records.ts';

test('the statuses that the health checks are tested on are what a cluster says today', async () => {
  const file = readFileSync(join(ROOT, 'config/argocd/recorded-statuses.yaml'), 'utf8');
  expect(parse(file)).toEqual(JSON.parse(JSON.stringify(await recordHealth())));
}, 600_000);
