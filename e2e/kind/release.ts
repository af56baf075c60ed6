/** The release under test, and what its users do with it. */
import { call } from '../support/call.ts';
import { waitFor } from '../support/wait-for.ts';
import type { Cluster, Forward } from './cluster.ts';

export const RELEASE = 'sb';
export const NAMESPACE = 'signalbox';

export interface Run {
  id: string;
  pipeline_name: string;
  status: string;
  summary: string;
}

export interface Release {
  readonly tokens: Record<string, string>;
  /** A pod may have been replaced: asks for a new way in. */
  reconnect(): Promise<void>;
  get<T>(path: string): Promise<T>;
  webhook(labels: Record<string, string>, summary: string): Promise<{ run_id: string }>;
  /** Waits until a run of this summary is there and has ended. */
  ended(summary: string): Promise<Run>;
  close(): void;
}

export async function connect(cluster: Cluster): Promise<Release> {
  const secret = await cluster.read<{ data: Record<string, string> }>(
    '-n',
    NAMESPACE,
    'get',
    'secret',
    `${RELEASE}-tokens`,
  );
  const tokens = Object.fromEntries(
    Object.entries(secret.data).map(([key, value]) => [key, Buffer.from(value, 'base64').toString('utf8')]),
  );
  const dial = () => cluster.forward(NAMESPACE, `service/${RELEASE}-api-server`, 8000);
  let way: Forward = await dial();
  const get = async <T>(path: string): Promise<T> => {
    const answer = await call<T>(`${way.url}${path}`, { token: tokens['viewer-token'] });
    if (answer.status !== 200) throw new Error(`GET ${path} answered ${answer.status}: ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  return {
    tokens,
    reconnect: async () => {
      way.close();
      way = await dial();
    },
    get,
    webhook: async (labels, summary) => {
      const alert = { status: 'firing', labels, annotations: { summary } };
      const answer = await call<{ run_id: string }>(`${way.url}/webhook?source=alert_router`, {
        token: tokens['webhook-token'],
        body: { version: '4', status: 'firing', alerts: [alert] },
      });
      if (answer.status !== 202)
        throw new Error(`the webhook answered ${answer.status}: ${JSON.stringify(answer.body)}`);
      return answer.body;
    },
    ended: (summary) =>
      waitFor(
        async () => {
          const { runs } = await get<{ runs: Run[] }>('/runs?limit=100');
          const run = runs.find((one) => one.summary === summary);
          return run && !['running', 'queued', 'interrupted'].includes(run.status) ? run : null;
        },
        { what: `the run "${summary}" to end`, timeoutMs: 120_000, everyMs: 500 },
      ),
    close: () => way.close(),
  };
}

interface Listed {
  items: {
    kind: string;
    metadata: { name: string };
    status?: { conditions?: { type: string; status: string; reason: string; message: string }[] };
  }[];
}

/** Waits until all our objects are Ready; the error names those that are not. */
export async function allReady(cluster: Cluster, namespace: string): Promise<string[]> {
  let last = '';
  return waitFor(
    async () => {
      const { items } = await cluster.read<Listed>('-n', namespace, 'get', 'signalbox');
      const waiting = items.flatMap(({ kind, metadata, status }) => {
        const ready = status?.conditions?.find(({ type }) => type === 'Ready');
        return ready?.status === 'True'
          ? []
          : [`${kind} ${metadata.name}: ${ready?.reason ?? 'no status'} ${ready?.message ?? ''}`];
      });
      last = waiting.join('; ');
      if (items.length > 0 && waiting.length === 0)
        return items.map(({ kind, metadata }) => `${kind} ${metadata.name}`);
      throw new Error(last);
    },
    { what: `the objects of ${namespace} to be Ready`, timeoutMs: 120_000, everyMs: 500 },
  ).catch((error: unknown) => {
    throw new Error(`${String(error)}: ${last}`, { cause: error });
  });
}
