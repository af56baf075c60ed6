import { z } from 'zod';

const ObjectName = z.string().min(1).max(253);
/** An absolute path without `..`, as Kubernetes demands of a mount. */
const MountPath = z
  .string()
  .max(1024)
  .regex(/^\/(?!.*(?:^|\/)\.\.(?:\/|$))[^:]+$/, 'must be an absolute path without `..` and `:`');

const SecretKey = z.strictObject({
  secret: z
    .strictObject({ name: ObjectName.describe('Name of the secret'), key: z.string().min(1).describe('Key in it') })
    .describe('A secret of the cluster'),
});

/** Refuses an entry that names none of `keys`, or more than one. */
function oneOf<T extends z.ZodObject>(schema: T, keys: readonly (keyof z.infer<T> & string)[]) {
  const counted = (entry: object) => keys.filter((key) => key in entry).length === 1;
  return schema.refine(counted, `needs exactly one of ${keys.join(', ')}`);
}

const Named = z.strictObject({ name: ObjectName.describe('Name of the object, in the namespace of the agent') });
const EnvFrom = oneOf(
  z.strictObject({
    secret: Named.optional().describe('A Secret'),
    configMap: Named.optional().describe('A ConfigMap'),
    prefix: z.string().min(1).max(64).optional().describe('Put before the name of each variable'),
  }),
  ['secret', 'configMap'],
);
const Files = Named.extend({
  items: z
    .array(z.strictObject({ key: z.string().min(1).describe('Key'), path: z.string().min(1).describe('Its file') }))
    .min(1)
    .max(100)
    .optional()
    .describe('The keys that become files; without it all of them'),
});
const Volume = oneOf(
  z.strictObject({
    mount_path: MountPath.describe('Where the container sees it'),
    emptyDir: z
      .strictObject({
        sizeLimit: z.string().min(1).max(32).default('64Mi').describe('Most that it holds'),
      })
      .optional()
      .describe('Files that end with the pod'),
    configMap: Files.optional().describe('The keys of a ConfigMap as files, read-only'),
    secret: Files.optional().describe('The keys of a Secret as files, read-only'),
  }),
  ['emptyDir', 'configMap', 'secret'],
);
/** As in a NetworkPolicy of Kubernetes, which the API server judges. */
const EgressRule = z.strictObject({
  to: z.array(z.record(z.string(), z.unknown())).min(1).max(100).optional().describe('Peers; without it all'),
  ports: z.array(z.record(z.string(), z.unknown())).min(1).max(100).optional().describe('Ports; without it all'),
});

/** An entry of `mcp_servers` that is an image: a container in the pods of the agents that list it (Gateway 6). */
export const ImageServer = z.strictObject({
  image: z.string().min(1).describe('Container image; for pods of a cluster'),
  command: z.array(z.string()).min(1).optional().describe('Program to start, in place of the entry point of the image'),
  args: z.array(z.string()).optional().describe('Its arguments, in place of those of the image'),
  port: z.number().int().min(1).max(65_535).describe('Port it serves'),
  path: z.string().startsWith('/').default('/mcp').describe('Path it serves'),
  env: z
    .record(z.string(), z.union([z.string(), SecretKey]))
    .default({})
    .describe('Its environment; a value is text or the key of a secret'),
  env_from: z
    .array(EnvFrom)
    .max(20)
    .optional()
    .describe('Secrets and ConfigMaps whose keys are variables of an image server; `env` wins'),
  volumes: z.array(Volume).max(20).optional().describe('What is mounted into the container of an image server'),
  resources: z.record(z.string(), z.unknown()).optional().describe('Resources of its container'),
  egress: z
    .array(EgressRule)
    .max(100)
    .optional()
    .describe(
      'Where the image server may connect to, as `egress` rules of a NetworkPolicy; an empty list is nowhere. A pod may go where any of its servers may, and a server without this key may go everywhere',
    ),
});
export type ImageServer = z.infer<typeof ImageServer>;
