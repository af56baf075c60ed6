import fc from 'fast-check';
import { expect, test } from 'vitest';
import { egressRule } from './egress.ts';
import { httpExecutor } from './http.ts';

test.each([
  '127.0.0.1',
  '10.0.0.1',
  '172.16.5.4',
  '192.168.1.1',
  '169.254.169.254',
  '100.64.0.1',
  '0.0.0.0',
  '255.255.255.255',
  '224.0.0.1',
  '::1',
  '::',
  'fe80::1',
  'fd00::1',
  '::ffff:127.0.0.1',
  '::ffff:10.0.0.1',
  '64:ff9b::a00:1',
  '2002:a00:1::',
  'nonsense',
  '',
])('%s may not be dialled', (address) => {
  expect(egressRule([]).allowsAddress(address)).toBe(false);
});

test.each(['93.184.216.34', '2606:2800:220:1:248:1893:25c8:1946'])('%s may', (address) => {
  expect(egressRule([]).allowsAddress(address)).toBe(true);
});

test('what the operator lists may be dialled: an address, a range, a name', () => {
  const rule = egressRule(['127.0.0.1', '10.1.0.0/16', 'hooks.internal']);
  expect([rule.allowsAddress('127.0.0.1'), rule.allowsAddress('10.1.2.3'), rule.allowsHost('HOOKS.internal')]).toEqual([
    true,
    true,
    true,
  ]);
  expect([rule.allowsAddress('127.0.0.2'), rule.allowsAddress('10.2.0.1'), rule.allowsHost('other.internal')]).toEqual([
    false,
    false,
    false,
  ]);
});

test('no IPv4 address of a private range passes, written as IPv6 or not', () => {
  const octet = fc.integer({ min: 0, max: 255 });
  const rule = egressRule([]);
  fc.assert(
    fc.property(octet, octet, octet, (b, c, d) => {
      for (const address of [`10.${b}.${c}.${d}`, `127.${b}.${c}.${d}`, `192.168.${c}.${d}`, `169.254.${c}.${d}`]) {
        expect(rule.allowsAddress(address)).toBe(false);
        expect(rule.allowsAddress(`::ffff:${address}`)).toBe(false);
      }
    }),
  );
});

const call = (url: string) =>
  httpExecutor([])({ url, method: 'GET', headers: {}, body: null, signal: AbortSignal.timeout(60_000) });

test.each([
  ['file:///etc/passwd', 'invalid_url'],
  ['gopher://x/', 'invalid_url'],
  ['http://user:pass@example.com/', 'invalid_url'],
  ['nonsense', 'invalid_url'],
  ['http://127.0.0.1:1/', 'egress_refused'],
  ['http://[::1]:1/', 'egress_refused'],
  ['http://2130706433/', 'egress_refused'],
  ['http://0x7f.1/', 'egress_refused'],
  ['http://localhost:1/', 'egress_refused'],
])('%s is refused as %s before anything is sent', async (url, type) => {
  expect(await call(url)).toMatchObject({ ok: false, type });
});
