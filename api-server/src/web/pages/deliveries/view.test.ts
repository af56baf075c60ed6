import { expect, test } from 'vitest';
import type { DeliveryDetail } from '../../../service/views/kept-delivery.ts';
import { VIEWER } from '../fixtures/fake-deps.ts';
import { pagesWith } from '../fixtures/pages-with.ts';

const RUN = '01a1febd-87d9-73c1-984a-8e11a3329cb6';
const DELIVERY: DeliveryDetail = {
  id: 7,
  received_at: '2026-11-21T11:59:00.000Z',
  source: 'alert_router',
  outcome: 'accepted',
  status_code: 202,
  pipeline: 'shop',
  run_id: RUN,
  summary: 'Payments <b>fail</b>',
  severity: 'critical',
  labels: { alertname: 'Down' },
  fingerprint: 'f:firing',
  detail: null,
  token_name: 'alertmanager',
  team: null,
  alerts: [
    { fingerprint: 'f', status: 'firing', labels: { service: 'payments' }, fate: 'run', run_id: RUN, reason: null },
    {
      fingerprint: 'g',
      status: 'firing',
      labels: { service: 'shop' },
      fate: 'suppressed',
      run_id: RUN,
      reason: 'run x covers this alert',
    },
  ],
  closest: [],
  raw: { status: 'firing' },
  raw_truncated: false,
};
const { alerts: _a, closest: _c, raw: _r, raw_truncated: _t, ...LINE } = DELIVERY;

test('the list names what was delivered and its run; the menu leads to it', async () => {
  const { get } = await pagesWith({ deliveries: [LINE] });
  const { body } = await get('/ui/deliveries?outcome=accepted&q=pay');
  expect(body).toContain('href="/ui/deliveries/7"');
  expect(body).toContain('Payments &lt;b&gt;fail&lt;/b&gt;');
  expect(body).toContain(`href="/ui/runs/${RUN}"`);
  expect((await get('/ui/')).body).toContain('href="/ui/deliveries"');
});

test('an empty list shows how to send the first delivery, a filtered one how to see all', async () => {
  const { get } = await pagesWith({});
  expect((await get('/ui/deliveries')).body).toContain('/webhook?source&#x3D;generic');
  expect((await get('/ui/deliveries?outcome=invalid')).body).toContain('Show all deliveries');
});

test('a search that ended before the oldest delivery says so and leads on', async () => {
  const page = { next_cursor: 'd9', looked_back_to: '2026-11-21T10:00:00.000Z' };
  const none = (await (await pagesWith({ deliveryPage: page })).get('/ui/deliveries?q=pay')).body;
  expect(none).toContain('Older deliveries were not searched yet.');
  expect(none).toContain('href="/ui/deliveries?q&#x3D;pay&amp;cursor&#x3D;d9"');
  expect(none).not.toContain('No delivery matches these filters');
  const some = (await (await pagesWith({ deliveries: [LINE], deliveryPage: page })).get('/ui/deliveries?q=pay')).body;
  expect(some).toContain('Search older');
});

test('a delivery shows the fate of each alert, and can be handled again by an operator', async () => {
  const { get } = await pagesWith({ delivery: DELIVERY });
  const { body } = await get('/ui/deliveries/7');
  expect(body).toContain('<span class="faint">service</span> <span>payments</span>');
  expect(body).toContain('run x covers this alert');
  expect(body).toContain('action="/ui/deliveries/7/redeliver"');
  const looking = await pagesWith({ delivery: DELIVERY, viewer: { ...VIEWER, role: 'viewer' } });
  expect((await looking.get('/ui/deliveries/7')).body).not.toContain('redeliver');
});

test('a delivery that nothing matched names the rule that failed, and one that was cut is not handled again', async () => {
  const delivery: DeliveryDetail = {
    ...DELIVERY,
    outcome: 'no_pipeline',
    run_id: null,
    raw: '{"cut',
    raw_truncated: true,
    closest: [{ pipeline: 'shop', failed_rule: 'severity', expected: { in: ['page'] }, actual: null }],
  };
  const { body } = await (await pagesWith({ delivery })).get('/ui/deliveries/7');
  expect(body).toContain('<code>severity in page</code> does not hold');
  expect(body).toContain('cut at 64 KiB');
  expect(body).not.toContain('action="/ui/deliveries/7/redeliver"');
});

test.each([
  ['suspended', 'Suspended'],
  ['skipped_testing', 'Testing only'],
] as const)(
  'an alert of a delivery that was %s says so, too, and one without labels adds nothing',
  async (outcome, word) => {
    const detail = 'nothing starts at present';
    const bare = {
      fingerprint: null,
      status: null,
      labels: {},
      fate: 'refused',
      run_id: null,
      reason: detail,
    } as const;
    const delivery = { ...DELIVERY, outcome, detail, run_id: null, alerts: [{ ...bare, labels: { service: 'shop' } }] };
    const { body } = await (await pagesWith({ delivery })).get('/ui/deliveries/7');
    expect(body.split(`>${word}<`).length - 1).toBe(2);
    expect(body).not.toContain('Refused');
    const plain = await pagesWith({ delivery: { ...delivery, alerts: [bare] } });
    expect((await plain.get('/ui/deliveries/7')).body).not.toContain('alerts-title');
  },
);

test('an address that names no delivery says so', async () => {
  const { get } = await pagesWith({});
  for (const id of ['7', 'x', '-1']) expect((await get(`/ui/deliveries/${id}`)).statusCode).toBe(404);
});

test('what was wrong with a delivery stands once on its page, as a sentence', async () => {
  const delivery: DeliveryDetail = { ...DELIVERY, outcome: 'invalid', summary: null, labels: {}, detail: 'no payload' };
  const { body } = await (await pagesWith({ delivery })).get('/ui/deliveries/7');
  expect(body).toContain('<h1>Delivery without a summary</h1>');
  expect(body.match(/no payload/gi)).toHaveLength(1);
});
