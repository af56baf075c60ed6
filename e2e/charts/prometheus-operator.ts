/** The fields of the Prometheus operator's kinds that the chart uses: any other field is a mistake. */
import { z } from 'zod';

const Duration = z
  .string()
  .regex(/^(\d+h)?(\d+m)?(\d+s)?$/)
  .min(2);
const Words = z.record(z.string(), z.string());
const Bearer = z.strictObject({
  type: z.literal('Bearer'),
  credentials: z.strictObject({ name: z.string().min(1), key: z.string().min(1) }),
});

const ServiceMonitor = z.strictObject({
  selector: z.strictObject({ matchLabels: Words }),
  endpoints: z
    .array(
      z.strictObject({
        port: z.string().min(1),
        path: z.string().startsWith('/'),
        interval: Duration,
        authorization: Bearer.optional(),
      }),
    )
    .min(1),
});

const PrometheusRule = z.strictObject({
  groups: z.array(
    z.strictObject({
      name: z.string().min(1),
      rules: z
        .array(
          z.strictObject({
            alert: z.string().min(1),
            expr: z.string().min(1),
            for: Duration.optional(),
            labels: Words,
            annotations: Words,
          }),
        )
        .min(1),
    }),
  ),
});

const AlertmanagerConfig = z.strictObject({
  route: z.strictObject({
    receiver: z.literal('signalbox'),
    groupBy: z.array(z.string()),
    groupWait: Duration,
    groupInterval: Duration,
    repeatInterval: Duration,
    matchers: z
      .array(
        z.strictObject({
          name: z.string().min(1),
          value: z.string().optional(),
          matchType: z.enum(['=', '!=', '=~', '!~']).optional(),
        }),
      )
      .optional(),
  }),
  receivers: z.array(
    z.strictObject({
      name: z.literal('signalbox'),
      webhookConfigs: z.array(
        z.strictObject({
          url: z.url(),
          sendResolved: z.boolean(),
          maxAlerts: z.int().min(0),
          httpConfig: z.strictObject({ authorization: Bearer }),
        }),
      ),
    }),
  ),
});

/** By `apiVersion kind`; each of a `spec`. */
export const OPERATOR_KINDS: Readonly<Record<string, z.ZodType>> = {
  'monitoring.coreos.com/v1 ServiceMonitor': ServiceMonitor,
  'monitoring.coreos.com/v1 PrometheusRule': PrometheusRule,
  'monitoring.coreos.com/v1alpha1 AlertmanagerConfig': AlertmanagerConfig,
};
