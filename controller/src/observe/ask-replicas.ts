import { lookup } from 'node:dns/promises';
import { readFileSync } from 'node:fs';
import { isIPv6 } from 'node:net';
import { readFile } from 'node:fs/promises';
import { Agent, request } from 'undici';
import { bytesOf } from '../kube/answer.ts';

export interface ReplicaSource<View> {
  /** Base address; a host with several addresses (a headless Service) has a replica behind each. */
  url: string;
  path: '/definitions' | '/agents' | '/runner-key';
  tokenFile: string | null;
  read(pod: string, body: unknown): View | null;
}

/** The answers of all replicas; `failed` names those that did not answer. */
export interface ReplicaViews<View> {
  asked: true;
  replicas: View[];
  failed: { pod: string; message: string }[];
}

export type AskReplicas = <View extends { pod: string }>(source: ReplicaSource<View>) => Promise<ReplicaViews<View>>;

const TIMEOUT_MS = 8000;
const MAX_REPLICAS = 100;
const MAX_NAMES = 1_000;
/** Of one answer: some kilobytes for each of many thousand definitions. */
const MAX_BYTES = 64 * 1024 * 1024;
const POD_NAME = /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/;

/** Makes the function that asks every replica of a service once. Throws where the CA cannot be read. */
export function createAskReplicas(caFile: string | null): AskReplicas {
  const ca = caFile === null ? undefined : readFileSync(caFile, 'utf8');
  /** Names of pods by their addresses, for those that do not answer. */
  const names = new Map<string, string>();
  return async <View extends { pod: string }>({ url, path, tokenFile, read }: ReplicaSource<View>) => {
    const { hostname, host, port, protocol } = new URL(url);
    const replicas: View[] = [];
    const failed: { pod: string; message: string }[] = [];
    const agent = new Agent({ connect: { servername: hostname, ...(ca === undefined ? {} : { ca }) } });
    const askOne = async (address: string, token: string | null) => {
      const known = port === '' ? address : `${address}:${port}`;
      const at = `${protocol}//${isIPv6(address) ? `[${address}]` : address}${port === '' ? '' : `:${port}`}${path}`;
      try {
        const taken = () => new Set(replicas.map(({ pod }) => pod));
        const { name, body } = await fetchAnswer(at, { host, token, agent });
        // Two processes of one machine may say the same name; in a status it must be unique.
        const pod = name === null || taken().has(name) ? known : name;
        const view = read(pod, body);
        if (view === null) throw new Error('the answer has another form than expected');
        names.set(known, pod);
        replicas.push(view);
      } catch (error) {
        failed.push({
          pod: names.get(known) ?? known,
          message: error instanceof Error ? error.message : String(error),
        });
      }
    };
    try {
      const token = tokenFile === null ? null : (await readFile(tokenFile, 'utf8')).trim();
      const found = await lookup(hostname.replace(/^\[|\]$/g, ''), { all: true });
      const addresses = found.map(({ address }) => address).slice(0, MAX_REPLICAS);
      if (names.size > MAX_NAMES) names.clear();
      await Promise.all(addresses.map((address) => askOne(address, token)));
    } catch (error) {
      failed.push({ pod: host, message: error instanceof Error ? error.message : String(error) });
    } finally {
      await agent.destroy();
    }
    return { asked: true, replicas: replicas.toSorted((a, b) => (a.pod < b.pod ? -1 : 1)), failed };
  };
}

interface Asked {
  host: string;
  token: string | null;
  agent: Agent;
}

/** The answer of one replica, with the name of its pod where it says it. */
async function fetchAnswer(
  url: string,
  { host, token, agent }: Asked,
): Promise<{ name: string | null; body: unknown }> {
  const { statusCode, headers, body } = await request(url, {
    headers: { host, ...(token === null ? {} : { authorization: `Bearer ${token}` }) },
    dispatcher: agent,
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  if (statusCode !== 200) throw new Error(`answered ${statusCode}`);
  const name = headers['x-signalbox-pod'];
  return {
    name: typeof name === 'string' && POD_NAME.test(name) ? name : null,
    body: JSON.parse((await bytesOf(body, MAX_BYTES)).toString()),
  };
}
