import { ClientCredentialsProvider } from '@modelcontextprotocol/sdk/client/auth-extensions.js';
import { expect, test } from 'vitest';
import { createTokenFetch } from './token-fetch.ts';

const OWN = 'http://remote';
const LISTEN = { method: 'GET', headers: { accept: 'text/event-stream' } };
const METADATA = {
  issuer: OWN,
  authorization_endpoint: `${OWN}/authorize`,
  token_endpoint: `${OWN}/token`,
  response_types_supported: ['code'],
};

/** The fetch for a server that takes only this token, and what it was asked. */
function remote(valid: string, headers: Record<string, string> = {}) {
  const asked: string[] = [];
  let tokens = 0;
  const inner = (url: string | URL, init: RequestInit = {}) => {
    const { pathname } = new URL(url);
    const shown = new Headers(init.headers).get('authorization');
    asked.push(pathname === '/mcp' ? `as ${shown}` : pathname);
    if (pathname === '/mcp')
      return Promise.resolve(new Response('', { status: shown === `Bearer ${valid}` ? 200 : 401 }));
    if (pathname === '/token')
      return Promise.resolve(Response.json({ access_token: `t${(tokens += 1)}`, token_type: 'Bearer' }));
    return Promise.resolve(pathname.includes('server') ? Response.json(METADATA) : new Response('', { status: 404 }));
  };
  const credentials = new ClientCredentialsProvider({
    clientId: 'gateway',
    clientSecret: 'secret',
    expectedIssuer: OWN,
  });
  const fetch = createTokenFetch({ inner, url: `${OWN}/mcp`, headers, credentials });
  return {
    asked,
    listen: async () => (await fetch(`${OWN}/mcp`, { ...LISTEN, headers: { ...LISTEN.headers, ...headers } })).status,
  };
}

test('requests that are refused at once share one look-up', async () => {
  const { asked, listen } = remote('t1');
  expect(await Promise.all([listen(), listen(), listen()])).toEqual([200, 200, 200]);
  expect(asked.filter((what) => what === '/token')).toHaveLength(1);
  expect(asked.filter((what) => what.startsWith('as'))).toHaveLength(6);
});

test('a stream that is refused with each new token is not asked for again', async () => {
  const { asked, listen } = remote('another');
  await expect(listen()).rejects.toThrow('it refused each new token');
  expect(asked.filter((what) => what.startsWith('as'))).toEqual(['as null', 'as Bearer t1', 'as Bearer t2']);
});

test('a header of the operator is not replaced', async () => {
  const { asked, listen } = remote('mine', { authorization: 'Bearer mine' });
  expect(await listen()).toBe(200);
  expect(asked).toEqual(['as Bearer mine']);
});
