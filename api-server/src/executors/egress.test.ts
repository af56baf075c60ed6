import fc from 'fast-check';
import { expect, test } from 'vitest';
import { egressRule } from './egress.ts';
import { PUBLIC_FORMS, REFUSED_FORMS } from './egress-forms.fixture.ts';
import { httpExecutor } from './http.ts';

test('every form of an address that is not public is refused', () => {
  const rule = egressRule([]);
  expect(REFUSED_FORMS.length).toBeGreaterThanOrEqual(200);
  expect(REFUSED_FORMS.filter((form) => rule.allowsAddress(form))).toEqual([]);
});

test('public addresses are allowed, also those next to a refused range', () => {
  const rule = egressRule([]);
  expect(PUBLIC_FORMS.filter((form) => !rule.allowsAddress(form))).toEqual([]);
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
