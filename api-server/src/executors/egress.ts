import { lookup as dnsLookup, type LookupAddress } from 'node:dns';
import type { LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';

/** Every address that is no unicast address of the public internet. */
const PUBLIC = 'unicast';

/** Azure's services for its own machines: metadata of the agent, DNS. Those of other clouds are in ranges that are not public. */
const AZURE_WIRE_SERVER = '168.63.129.16';

/** Ranges that the library counts as public: site-local, IPv4-compatible, local NAT64, documentation, benchmarks, discard and the like. */
const NOT_PUBLIC = [
  'fec0::/10',
  '::/96',
  '64:ff9b:1::/48',
  '100::/64',
  '2001::/23',
  '2001:db8::/32',
  '3fff::/20',
  '5f00::/16',
  '192.0.0.0/24',
  '198.18.0.0/15',
  '192.88.99.0/24',
  '192.31.196.0/24',
  '192.52.193.0/24',
  '192.175.48.0/24',
].map((range) => ipaddr.parseCIDR(range));

/** Says whether an address may be dialled, by the configured exceptions: addresses, CIDR ranges or host names. */
export interface EgressRule {
  allowsAddress(address: string): boolean;
  allowsHost(host: string): boolean;
}

/** Reads `security.egress_allow`; entries that are neither address nor range are host names. */
export function egressRule(allow: readonly string[]): EgressRule {
  const ranges = allow.flatMap((entry) => {
    if (ipaddr.isValidCIDR(entry)) return [ipaddr.parseCIDR(entry)];
    if (!ipaddr.isValid(entry)) return [];
    const address = ipaddr.process(entry);
    return [[address, address.kind() === 'ipv4' ? 32 : 128] as [typeof address, number]];
  });
  const hosts = new Set(allow.map((entry) => entry.toLowerCase()));
  return {
    allowsHost: (host) => hosts.has(host.toLowerCase()),
    allowsAddress: (text) => {
      if (!ipaddr.isValid(text)) return false;
      const address = ipaddr.process(text);
      return isPublic(address) || ranges.some((range) => contains(range, address));
    },
  };
}

type Address = ipaddr.IPv4 | ipaddr.IPv6;

const contains = ([base, bits]: [Address, number], address: Address): boolean =>
  base.kind() === address.kind() && address.match(base, bits);

/** Forms of IPv6 that carry an IPv4 address are not public at all: what they reach depends on a translator. */
function isPublic(address: Address): boolean {
  if (address.range() !== PUBLIC || address.toString() === AZURE_WIRE_SERVER) return false;
  return !NOT_PUBLIC.some((range) => contains(range, address));
}

export class EgressRefused extends Error {}

/** A DNS look-up that gives only addresses that may be dialled, so that what was checked is what is dialled. */
export function guardedLookup(rule: EgressRule): LookupFunction {
  return (hostname, options, callback) => {
    dnsLookup(hostname, { ...options, all: true }, (error, addresses) => {
      const found = addresses as LookupAddress[] | undefined;
      if (error || !found) return callback(error, '', 0);
      const allowed = rule.allowsHost(hostname) ? found : found.filter(({ address }) => rule.allowsAddress(address));
      const [first] = allowed;
      if (!first) return callback(new EgressRefused(refusal(hostname)), '', 0);
      return options.all ? callback(null, allowed) : callback(null, first.address, first.family);
    });
  };
}

export const refusal = (host: string): string =>
  `${host} is a private or local address; list it in security.egress_allow to allow it`;
