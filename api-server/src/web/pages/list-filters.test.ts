import { expect, test } from 'vitest';
import { pagesWith } from './fixtures/pages-with.ts';

const NOTICE = 'does not understand';

test.each([
  ['/ui/runs?status=failed&q=&page=2', '/ui/runs?staus=failed', 'staus&#x3D;failed'],
  ['/ui/runs?status=failed,aborted', '/ui/runs?status=nosuch', 'status&#x3D;nosuch'],
  ['/ui/audit?actor=ada&open=7', '/ui/audit?since=yesterday', 'since&#x3D;yesterday'],
  ['/ui/deliveries?outcome=deduplicated', '/ui/deliveries?outcome=lost', 'outcome&#x3D;lost'],
  ['/ui/insights?time_range=30d&team=infra', '/ui/insights?window=30d', 'window&#x3D;30d'],
  ['/ui/insights?stage=all', '/ui/insights?stage=nosuch', 'stage&#x3D;nosuch'],
  ['/ui/marking?stage=testing', '/ui/marking?agent=x', 'agent&#x3D;x'],
  ['/ui/replays?step=triage', '/ui/replays?step=a/b', 'step&#x3D;a/b'],
  ['/ui/sync?q=checkout&state=trouble', '/ui/sync?kind=Agent', 'kind&#x3D;Agent'],
])('%s is understood, and the page of %s says what is not', async (known, unknown, said) => {
  const { get } = await pagesWith({});
  expect((await get(known)).body).not.toContain(NOTICE);
  const { body } = await get(unknown);
  expect(body).toContain(NOTICE);
  expect(body).toContain(said);
});
