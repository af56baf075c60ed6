import { isIP } from 'node:net';

export interface PodAddressesDeps {
  /** From the configuration; they take precedence over the manifest's. */
  configured: Readonly<Record<string, readonly string[]>>;
  /** From the manifest. */
  managed: (agent: string) => string | undefined;
  /** All IP addresses behind a name; a headless Service has one a pod. */
  lookup: (host: string) => Promise<string[]>;
}

const DEFAULT_PORT = 18_781;

/** The WebSocket addresses of an agent's pods now; empty where none is known. */
export async function podAddresses(agent: string, deps: PodAddressesDeps): Promise<string[]> {
  const addresses = deps.configured[agent] ?? [deps.managed(agent)].filter((address) => address !== undefined);
  const urls = await Promise.all(addresses.map((address) => expand(address, deps.lookup)));
  return [...new Set(urls.flat())];
}

async function expand(address: string, lookup: PodAddressesDeps['lookup']): Promise<string[]> {
  const url = parsePodAddress(address);
  if (!url) return [];
  // A certificate is issued for the name, so over TLS the name is dialled and not its IP addresses.
  if (url.protocol === 'wss:' || isIP(url.hostname.replace(/^\[|\]$/g, '')) !== 0) return [url.href];
  const found = await lookup(url.hostname).catch(() => []);
  return found.map((ip) => {
    const one = new URL(url);
    one.hostname = isIP(ip) === 6 ? `[${ip}]` : ip;
    return one.href;
  });
}

/** Null for what is no address. */
export function parsePodAddress(address: string): URL | null {
  const withScheme = address.includes('://') ? address : `ws://${address}`;
  const url = URL.parse(withScheme.replace(/^http/, 'ws'));
  if (!url || (url.protocol !== 'ws:' && url.protocol !== 'wss:')) return null;
  if (url.port === '' && url.protocol === 'ws:' && !/:\d+\/?$/.test(address)) url.port = String(DEFAULT_PORT);
  url.pathname = '/rpc';
  return url;
}
