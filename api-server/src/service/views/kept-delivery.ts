import { z } from 'zod';
import type { KeptDelivery } from '../../store/tables/deliveries.ts';
import { type AlertFate, DELIVERY_OUTCOMES, FATES } from '../../triggers/delivery-record.ts';
import { component, NullableText, Time, viewOf } from './answer.ts';

const LINE = {
  id: 4711,
  received_at: '2026-11-02T09:31:12.000Z',
  source: 'alert_router',
  outcome: 'accepted',
  status_code: 202,
  pipeline: 'checkout-errors',
  run_id: '01a1febd-87d9-73c1-984a-8e11a3329cb6',
  summary: 'Checkout answers 5xx',
  severity: 'critical',
  labels: { alertname: 'CheckoutErrors', service: 'checkout' },
  fingerprint: 'a1b2c3d4e5f60718:firing',
  detail: null,
  token_name: 'alertmanager',
  team: 'payments',
} as const;

/** A delivery to the webhook with what became of it. */
const DeliveryLine = z
  .strictObject({
    id: z.number(),
    received_at: Time,
    source: z.string(),
    outcome: z.enum(DELIVERY_OUTCOMES),
    status_code: z.number(),
    pipeline: NullableText,
    /** The first of several; `alerts` of the delivery lists their own. */
    run_id: NullableText,
    summary: NullableText,
    severity: NullableText,
    labels: z.record(z.string(), z.string()),
    fingerprint: NullableText,
    /** Why no run was started. */
    detail: NullableText,
    token_name: NullableText,
    team: NullableText,
  })
  .meta({ id: 'DeliveryLine' });
export type DeliveryLine = z.infer<typeof DeliveryLine>;

export const DeliveryPage = component(
  'DeliveryPage',
  z.strictObject({
    deliveries: z.array(DeliveryLine),
    next_cursor: NullableText,
    /** Where a page looked through as many as it may before it was full: when the oldest of them came. */
    looked_back_to: Time.nullable(),
  }),
  { deliveries: [LINE], next_cursor: null, looked_back_to: null },
);
export type DeliveryPage = z.infer<typeof DeliveryPage>;

/** What became of one alert. */
const AlertLine = z.strictObject({
  fingerprint: NullableText,
  status: NullableText,
  labels: z.record(z.string(), z.string()),
  fate: z.enum(FATES),
  run_id: NullableText,
  reason: NullableText,
});

/** A pipeline that almost matched, with its first rule that did not. */
export const Closest = z
  .strictObject({ pipeline: z.string(), failed_rule: z.string(), expected: z.unknown(), actual: z.unknown() })
  .meta({ id: 'ClosestPipeline' });

export const DeliveryDetail = component(
  'DeliveryDetail',
  DeliveryLine.extend({
    alerts: z.array(AlertLine),
    closest: z.array(Closest),
    /** The body: up to 64 KiB of it as text where it was cut; null where it is no longer there. */
    raw: z.unknown(),
    raw_truncated: z.boolean(),
  }),
  {
    ...LINE,
    alerts: [
      {
        fingerprint: 'a1b2c3d4e5f60718',
        status: 'firing',
        labels: LINE.labels,
        fate: 'run',
        run_id: LINE.run_id,
        reason: null,
      },
    ],
    closest: [],
    raw: { status: 'firing', alerts: [] },
    raw_truncated: false,
  },
);
export type DeliveryDetail = z.infer<typeof DeliveryDetail>;

export const deliveryLine = (delivery: KeptDelivery): DeliveryLine => viewOf(DeliveryLine, delivery);

export const deliveryDetail = (
  delivery: KeptDelivery,
  { alerts, raw, isCut }: { alerts: readonly AlertFate[]; raw: unknown; isCut: boolean },
): DeliveryDetail => ({
  ...deliveryLine(delivery),
  alerts: alerts.map((alert) => viewOf(AlertLine, alert)),
  closest: delivery.closest.map((one) => viewOf(Closest, one)),
  raw,
  raw_truncated: isCut,
});
