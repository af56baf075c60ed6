import { lookup } from 'node:dns/promises';
import { readFileSync } from 'node:fs';
import { isIPv6 } from 'node:net';
import { readFile } from 'node:fs/promises';
import { Agent, request } from 'undici';
import type { ReplicaView, ServiceView } from './service-view.ts';

export interface ReplicaSource {
  /** Base address; a host with several addresses (a headless Service) has a replica behind each. */
  url: string;
  path: '/definitions' | '/agents';
  tokenFile: string | null;
  read(pod: string, body: unknown): ReplicaView | null;
}

const TIMEOUT_MS = 8000;
const MAX_REPLICAS = 100;

/** Makes the function that asks every replica of a service once (Design 7). Throws where the CA cannot be read. */
export function createAskReplicas(caFile: string | null): (source: ReplicaSource) => Promise<ServiceView> {
  const ca = caFile === null ? undefined : readFileSync(caFile, 'utf8');
  return async ({ url, path, tokenFile, read }) => {
    const { hostname, host, port, protocol } = new URL(url);
    const replicas: ReplicaView[] = [];
    const failed: { pod: string; message: string }[] = [];
    const dispatcher = new Agent({ connect: { servername: hostname, ...(ca === undefined ? {} : { ca }) } });
    const askOne = async (address: string, token: string | null) => {
      const pod = port === '' ? address : `${address}:${port}`;
      const at = `${protocol}//${isIPv6(address) ? `[${address}]` : address}${port === '' ? '' : `:${port}`}${path}`;
      try {
        const view = await fetchView(at, { host, token, dispatcher, read: (body) => read(pod, body) });
        replicas.push(view);
      } catch (error) {
        failed.push({ pod, message: error instanceof Error ? error.message : String(error) });
      }
    };
    try {
      const token = tokenFile === null ? null : (await readFile(tokenFile, 'utf8')).trim();
      const found = await lookup(hostname.replace(/^\[|\]$/g, ''), { all: true });
      const addresses = found.map(({ address }) => address).slice(0, MAX_REPLICAS);
      await Promise.all(addresses.map((address) => askOne(address, token)));
    } catch (error) {
      failed.push({ pod: host, message: error instanceof Error ? error.message : String(error) });
    } finally {
      await dispatcher.destroy();
    }
    return { asked: true, replicas: replicas.toSorted((a, b) => (a.pod < b.pod ? -1 : 1)), failed };
  };
}

interface Asked {
  host: string;
  token: string | null;
  dispatcher: Agent;
  read(body: unknown): ReplicaView | null;
}

async function fetchView(url: string, { host, token, dispatcher, read }: Asked): Promise<ReplicaView> {
  const { statusCode, body } = await request(url, {
    headers: { host, ...(token === null ? {} : { authorization: `Bearer ${token}` }) },
    dispatcher,
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  const text = await body.text();
  if (statusCode !== 200) throw new Error(`answered ${statusCode}`);
  const view = read(JSON.parse(text) as unknown);
  if (view === null) throw new Error('answered something else than expected');
  return view;
}
