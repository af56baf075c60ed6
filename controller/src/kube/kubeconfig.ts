import { readFileSync } from 'node:fs';
import { delimiter, dirname, resolve } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';

const ClusterEntry = z.looseObject({
  server: z.string(),
  'certificate-authority': z.string().optional(),
  'certificate-authority-data': z.string().optional(),
  'insecure-skip-tls-verify': z.boolean().optional(),
  'tls-server-name': z.string().optional(),
});
const UserEntry = z.looseObject({
  token: z.string().optional(),
  tokenFile: z.string().optional(),
  'client-certificate': z.string().optional(),
  'client-certificate-data': z.string().optional(),
  'client-key': z.string().optional(),
  'client-key-data': z.string().optional(),
});
const ContextEntry = z.looseObject({ cluster: z.string(), user: z.string(), namespace: z.string().optional() });
const named = <T extends z.ZodType>(key: string, entry: T) =>
  z.array(z.looseObject({ name: z.string(), [key]: entry })).nullish();
const Kubeconfig = z.looseObject({
  clusters: named('cluster', ClusterEntry),
  users: named('user', UserEntry.nullable()),
  contexts: named('context', ContextEntry),
  'current-context': z.string().optional(),
});

/** The current context of one or more kubeconfig files; files it names are made absolute. */
export interface Context {
  cluster: z.infer<typeof ClusterEntry>;
  user: z.infer<typeof UserEntry>;
  namespace: string;
}

const USER_KEYS = new Set(Object.keys(UserEntry.shape));
const CLUSTER_KEYS = new Set(Object.keys(ClusterEntry.shape));

/** Whether everything that the context says is understood here: plugins, proxies and impersonation are not. */
export const isPlain = ({ cluster, user }: Context): boolean =>
  Object.keys(user).every((key) => USER_KEYS.has(key)) && Object.keys(cluster).every((key) => CLUSTER_KEYS.has(key));

/** Reads files as kubectl merges them: the first that names something wins. Throws with the file's name. */
export function readContext(paths: string): Context {
  const files = paths.split(delimiter).filter(Boolean).map(readOne);
  const first = <T>(pick: (file: Read) => T | undefined): T | undefined =>
    files.map(pick).find((one) => one !== undefined);
  const current = first(({ config }) => config['current-context'] || undefined);
  const entry = (list: 'clusters' | 'users' | 'contexts', key: string, name: string | undefined) =>
    first(({ config, folder }) => {
      const found = config[list]?.find((one) => one.name === name)?.[key] as Record<string, unknown> | undefined;
      return found === undefined ? undefined : absolute(found, folder);
    });
  const context = ContextEntry.safeParse(entry('contexts', 'context', current));
  if (!context.success) throw new Error(`${paths}: has no context "${current ?? ''}"`);
  const cluster = ClusterEntry.safeParse(entry('clusters', 'cluster', context.data.cluster));
  if (!cluster.success) throw new Error(`${paths}: has no cluster "${context.data.cluster}"`);
  const user = UserEntry.parse(entry('users', 'user', context.data.user) ?? {});
  return { cluster: cluster.data, user, namespace: context.data.namespace ?? 'default' };
}

interface Read {
  config: z.infer<typeof Kubeconfig>;
  folder: string;
}

function readOne(path: string): Read {
  try {
    return { config: Kubeconfig.parse(parse(readFileSync(path, 'utf8')) ?? {}), folder: dirname(path) };
  } catch (cause) {
    throw new Error(`${path}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  }
}

const PATHS = new Set(['certificate-authority', 'client-certificate', 'client-key', 'tokenFile']);

const absolute = (entry: Record<string, unknown> | null, folder: string): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(entry ?? {}).map(([key, value]) => [
      key,
      PATHS.has(key) && typeof value === 'string' ? resolve(folder, value) : value,
    ]),
  );
