import { asker } from '@signalbox/crds/process/asker';
import { afterEach, expect, test } from 'vitest';
import { as, startTestServer, type TestServer } from '../fixtures/server.ts';

let server: TestServer;
afterEach(() => server.close());

test('what is done for a request is done for its token, as an answer, a page or a tool', async () => {
  const askers: string[] = [];
  const listAgents = () => {
    askers.push(asker());
    return Promise.resolve({ agents: [], errors: {} });
  };
  server = await startTestServer({ deps: { listAgents } });
  const ask = (role: 'viewer' | 'operator') => server.app.inject({ url: '/agents', headers: as(role) });
  await Promise.all([ask('viewer'), ask('operator')]);
  expect(askers).toEqual(['the-viewer', 'the-operator']);
  expect(asker()).toBe('');
});
