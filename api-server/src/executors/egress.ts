import { lookup as dnsLookup, type LookupAddress } from 'node:dns';
import type { LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';

/** Ranges that a pipeline author's URL may not reach unless the operator lists them. */
const REFUSED = new Set([
  'unspecified',
  'broadcast',
  'multicast',
  'linkLocal',
  'loopback',
  'private',
  'carrierGradeNat',
  'uniqueLocal',
  'reserved',
  'rfc6145',
  'rfc6052',
  '6to4',
  'teredo',
]);

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
      if (!REFUSED.has(address.range())) return true;
      return ranges.some(([base, bits]) => base.kind() === address.kind() && address.match(base, bits));
    },
  };
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
