import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { join } from 'node:path';
import { SyncManifest } from '@signalbox/crds';

export interface PodAddressesDeps {
  /** Given by the operator; they win over the manifest's. */
  configured: Readonly<Record<string, readonly string[]>>;
  managedDir: string | undefined;
  /** All IP addresses behind a name; a headless Service has one a pod. */
  lookup: (host: string) => Promise<string[]>;
}

const DEFAULT_PORT = 18_781;

/** Where the pods of an agent answer now: one WebSocket address each, none when nothing is known (Design 6, 7). */
export async function podAddresses(agent: string, deps: PodAddressesDeps): Promise<string[]> {
  const addresses = deps.configured[agent] ?? fromManifest(agent, deps.managedDir);
  const urls = await Promise.all(addresses.map((address) => expand(address, deps.lookup)));
  return [...new Set(urls.flat())];
}

/** Read each time: it is small, and another container replaces it whenever an agent appears. */
function fromManifest(agent: string, managedDir: string | undefined): string[] {
  if (managedDir === undefined) return [];
  try {
    const parsed = SyncManifest.safeParse(JSON.parse(readFileSync(join(managedDir, 'manifest.json'), 'utf8')));
    const address = parsed.success ? parsed.data.agents[agent] : undefined;
    return address === undefined ? [] : [address];
  } catch {
    // Not written yet: the caller asks again.
    return [];
  }
}

async function expand(address: string, lookup: PodAddressesDeps['lookup']): Promise<string[]> {
  const url = parse(address);
  if (!url) return [];
  // A certificate is made out to the name, so over TLS the name is dialled and not what is behind it.
  if (url.protocol === 'wss:' || isIP(url.hostname.replace(/^\[|\]$/g, '')) !== 0) return [url.href];
  const found = await lookup(url.hostname).catch(() => []);
  return found.map((ip) => {
    const one = new URL(url);
    one.hostname = isIP(ip) === 6 ? `[${ip}]` : ip;
    return one.href;
  });
}

function parse(address: string): URL | null {
  const withScheme = address.includes('://') ? address : `ws://${address}`;
  const url = URL.parse(withScheme.replace(/^http/, 'ws'));
  if (!url) return null;
  if (url.port === '' && url.protocol === 'ws:' && !/:\d+\/?$/.test(address)) url.port = String(DEFAULT_PORT);
  url.pathname = '/rpc';
  return url;
}
