/** The schema of charts/signalbox/values.yaml; `npm run generate` writes charts/signalbox/values.schema.json from it. */
import { z } from 'zod';
import { ConfigFile } from '../../api-server/src/config/schema.ts';
import { GatewayConfig } from '../../gateway/src/config/schema.ts';

const Texts = z.record(z.string(), z.string());
const Objects = z.array(z.record(z.string(), z.unknown()));
/** As an AlertmanagerConfig takes them. */
const Matchers = z.array(
  z.strictObject({
    name: z.string().min(1),
    value: z.string().optional(),
    matchType: z.enum(['=', '!=', '=~', '!~']).optional(),
  }),
);
const Quantities = z.record(z.string(), z.union([z.string(), z.number()]));
const Resources = z.strictObject({
  requests: Quantities.optional(),
  limits: Quantities.optional(),
  claims: Objects.optional(),
});

const Pods = {
  replicas: z.int().min(0).max(100),
  resources: Resources,
  podDisruptionBudget: z.strictObject({ enabled: z.boolean() }),
  podAnnotations: Texts,
  podLabels: Texts,
  nodeSelector: Texts,
  tolerations: Objects,
  affinity: z.record(z.string(), z.unknown()),
  topologySpreadConstraints: Objects,
};

const service = (config: z.ZodType) =>
  z.strictObject({
    ...Pods,
    config,
    env: Objects,
    envFrom: Objects,
    persistence: z.strictObject({
      enabled: z.boolean(),
      size: z.string().regex(/^\d+(\.\d+)?([KMGTPE]i?)?$/),
      storageClass: z.string(),
      existingClaim: z.string(),
    }),
    service: z.strictObject({ type: z.enum(['ClusterIP', 'NodePort', 'LoadBalancer']), annotations: Texts }),
    autoscaling: z.strictObject({
      enabled: z.boolean(),
      minReplicas: z.int().min(1).max(100),
      maxReplicas: z.int().min(1).max(100),
      targetCPUUtilizationPercentage: z.int().min(1).max(100),
    }),
    extraVolumes: Objects,
    extraVolumeMounts: Objects,
  });
const Hosts = z.array(z.string().min(1).max(253));

const Switch = { enabled: z.boolean(), labels: Texts };

export const Values = z.strictObject({
  image: z.strictObject({
    repository: z.string().min(1),
    tag: z.string(),
    pullPolicy: z.enum(['Always', 'IfNotPresent', 'Never']),
  }),
  imagePullSecrets: z.array(z.strictObject({ name: z.string().min(1) })),
  watchNamespaces: z.array(z.string().regex(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/)),
  watchAllNamespaces: z.boolean(),
  apiServer: service(ConfigFile).extend({
    ingress: z.strictObject({
      enabled: z.boolean(),
      className: z.string(),
      annotations: Texts,
      hosts: Hosts,
      tls: z.array(z.strictObject({ hosts: Hosts.optional(), secretName: z.string().min(1) })),
    }),
    httpRoute: z.strictObject({ enabled: z.boolean(), annotations: Texts, parentRefs: Objects, hostnames: Hosts }),
  }),
  gateway: service(GatewayConfig),
  controller: z.strictObject(Pods),
  sync: z.strictObject({ resources: Resources }),
  tls: z.strictObject({ enabled: z.boolean(), existingSecret: z.string(), issuerRef: Texts }),
  database: z.strictObject({ existingSecret: z.string(), key: z.string().min(1) }),
  auth: z.strictObject({
    existingSecret: z.string(),
    existingApproveToken: z.boolean(),
    existingReloadTokens: z.boolean(),
  }),
  networkPolicy: z.strictObject({
    enabled: z.boolean(),
    egress: z.strictObject({ enabled: z.boolean(), apiServer: Objects, gateway: Objects }),
    apiServerFrom: Objects,
    clients: Objects,
    metricsFrom: Objects,
  }),
  monitoring: z.strictObject({
    serviceMonitor: z.strictObject({ ...Switch, interval: z.string().regex(/^\d+(ms|s|m|h)$/) }),
    prometheusRule: z.strictObject(Switch),
    dashboards: z.strictObject({ enabled: z.boolean(), label: z.string().min(1), labelValue: z.string() }),
    alertmanagerConfig: z.strictObject({ ...Switch, matchers: Matchers, groupBy: z.array(z.string()) }),
  }),
  // What Helm itself puts into the values of a chart that another one includes.
  global: z.record(z.string(), z.unknown()).optional(),
});
