import { BlockList, isIP } from 'node:net';
import type { FastifyRequest } from 'fastify';

/** Tells whether a request came over TLS: ended here, or at a trusted proxy that says so (Orchestration 5, rule 6). */
export interface ProxyTrust {
  isTls(request: FastifyRequest): boolean;
  /** The host the browser named, `name:port`; a forwarded one only from a trusted proxy. */
  host(request: FastifyRequest): string | undefined;
  /** Where the caller is: what a trusted proxy says, else the other end of the connection. */
  address(request: FastifyRequest): string;
}

export function createProxyTrust(allowed: readonly string[]): ProxyTrust {
  const list = new BlockList();
  for (const entry of allowed) addEntry(list, entry);
  const everyone = allowed.includes('*');
  const peer = (request: FastifyRequest) => (request.socket.remoteAddress ?? '').replace(/^::ffff:/, '');
  const trusted = (request: FastifyRequest) => {
    const address = peer(request);
    return everyone || (isIP(address) !== 0 && list.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4'));
  };
  return {
    isTls: (request) =>
      'encrypted' in request.socket || (last(request.headers['x-forwarded-proto']) === 'https' && trusted(request)),
    host: (request) => {
      const forwarded = last(request.headers['x-forwarded-host']);
      return forwarded !== undefined && trusted(request) ? forwarded : request.headers.host;
    },
    address: (request) => {
      const forwarded = last(request.headers['x-forwarded-for']);
      return forwarded !== undefined && isIP(forwarded) !== 0 && trusted(request) ? forwarded : peer(request);
    },
  };
}

function addEntry(list: BlockList, entry: string): void {
  const [address = '', bits] = entry.split('/');
  const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
  if (isIP(address) === 0) return;
  if (bits === undefined) list.addAddress(address, family);
  else list.addSubnet(address, Number(bits), family);
}

/** What the nearest proxy added is the last entry; the ones before it are the caller's word. */
function last(header: string | string[] | undefined): string | undefined {
  return header === undefined ? undefined : String(header).split(',').at(-1)?.trim().toLowerCase();
}
