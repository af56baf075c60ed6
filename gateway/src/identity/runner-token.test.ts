import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { expect, test } from 'vitest';
import { createRunnerAuthenticate, readPublicKeys, signRunnerToken } from './runner-token.ts';

const ours = generateKeyPairSync('ed25519');
const theirs = generateKeyPairSync('ed25519');
const NOW = 1_800_000_000_000;
const pem = (key: KeyObject) => String(key.export({ type: 'spki', format: 'pem' }));
const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');

function authenticate(now = NOW, namespace?: string) {
  const accepts = createRunnerAuthenticate({ agent: 'a', namespace, keys: [ours.publicKey], now: () => now });
  return (token: string | null) => accepts(token === null ? undefined : `Bearer ${token}`);
}
const token = (agent = 'a', key = ours.privateKey, now = NOW) =>
  signRunnerToken({ name: agent, managedBy: null }, key, { now, id: 'id-1' });
/** For the agent of an object. */
const tokenIn = (namespace: string) =>
  signRunnerToken({ name: 'a', managedBy: { kind: 'Agent', namespace, name: 'a' } }, ours.privateKey, {
    now: NOW,
    id: 'id-1',
  });
/** A token signed with the right key that says whatever it wants. */
function crafted(header: object, claims: object): string {
  const signed = `${encode(header)}.${encode(claims)}`;
  return `${signed}.${sign(null, Buffer.from(signed), ours.privateKey).toString('base64url')}`;
}
const seconds = NOW / 1000;
const claims = {
  iss: 'signalbox-gateway',
  aud: 'signalbox-agent-runner',
  sub: 'a',
  iat: seconds,
  exp: seconds + 60,
  jti: 'x',
};
const header = { alg: 'EdDSA', typ: 'JWT' };

test('a token for this agent lets in, once', () => {
  const accepts = authenticate();
  expect(accepts(token())).toEqual({ ok: true, token: 'invoke', approves: 'all' });
  expect(accepts(token())).toEqual({ ok: false, reason: 'invalid' });
});

test.each([
  ['its own namespace', tokenIn('shop'), 'shop', true],
  ['another namespace', tokenIn('blog'), 'shop', false],
  ['the operator, or by a gateway of before', token(), 'shop', true],
  ['a namespace, and the pod is of before', tokenIn('shop'), undefined, true],
])('a token for the agent of %s', (_, presented, namespace, isAccepted) => {
  expect(authenticate(NOW, namespace)(presented).ok).toBe(isAccepted);
});

test('the crafted form is a good one, so the refusals below are for what they change', () => {
  expect(authenticate()(crafted(header, claims)).ok).toBe(true);
});

test.each([
  ['no token', null],
  ['another agent’s token', token('b')],
  ['one signed with another key', token('a', theirs.privateKey)],
  ['one from two minutes ago', token('a', ours.privateKey, NOW - 120_000)],
  ['one from the future', token('a', ours.privateKey, NOW + 120_000)],
  ['one that lives for an hour', crafted(header, { ...claims, exp: seconds + 3600 })],
  ['one for another audience', crafted(header, { ...claims, aud: 'other' })],
  ['one of another issuer', crafted(header, { ...claims, iss: 'other' })],
  ['one without an id', crafted(header, { ...claims, jti: undefined })],
  ['one that says it needs no signature', `${encode({ alg: 'none' })}.${encode(claims)}.`],
  ['one that names another algorithm', crafted({ alg: 'HS256', typ: 'JWT' }, claims)],
  ['changed claims under an old signature', [encode(header), encode(claims), token().split('.')[2]].join('.')],
  ['text', 'nonsense'],
  ['something endless', 'x'.repeat(10_000)],
])('%s is refused', (_, presented) => {
  expect(authenticate()(presented).ok).toBe(false);
});

test('a key is replaced by giving both for a while; nothing but Ed25519 counts', () => {
  const both = `${pem(theirs.publicKey)}\n${pem(ours.publicKey)}`;
  expect(readPublicKeys(both)).toHaveLength(2);
  expect(readPublicKeys('')).toBeNull();
  expect(readPublicKeys(pem(generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey))).toBeNull();
  expect(readPublicKeys('-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----')).toBeNull();
});
