import { expect, onTestFinished, test } from 'vitest';
import { startTestServer } from './fixtures/server.ts';

test('an address that cannot be decoded leads people to a page, and programs to an error', async () => {
  const server = await startTestServer();
  onTestFinished(() => server.close());
  const get = async (url: string) => {
    const { statusCode, headers } = await server.app.inject({ url });
    return [statusCode, headers.location ?? headers['content-type']];
  };
  expect(await get('/ui/runs/%zz')).toEqual([303, '/ui/unknown']);
  expect(await get('/runs/%zz')).toEqual([400, 'application/json; charset=utf-8']);
});
