import { afterEach, beforeEach, expect, test } from 'vitest';
import { keepTexts, wantedVersions } from '../../store/tables/versions/agent-versions.ts';
import { storeUses } from '../../store/tables/versions/version-uses.ts';
import type { FoundTexts } from '../../versions/agent-texts.ts';
import type { VersionUse } from '../../versions/uses.ts';
import { as, startTestServer, type TestServer } from '../fixtures/server.ts';
import { NOW } from '../fixtures/store.ts';

let server: TestServer;
beforeEach(async () => {
  server = await startTestServer();
});
afterEach(() => server.close());

const used = (version: string, at: number, over: Partial<VersionUse> = {}): VersionUse => ({
  step_name: 'look',
  prompt_hash: 'p1',
  executor: 'gateway',
  agent: 'reader',
  agent_version: version,
  first_seen_at: NOW + at,
  last_seen_at: NOW + at,
  ...over,
});
const store = (...uses: VersionUse[]) => server.store.database.write((tx) => storeUses(tx, uses));
const keep = (version: string, found: Partial<FoundTexts>) =>
  server.store.database.write((tx) =>
    keepTexts(tx, [{ agent: 'reader', version, texts: null, note: null, wanted: false, ...found }]),
  );
const wanted = () => wantedVersions(server.store.database.db, 10);
const get = async (name: string) => {
  const answer = await server.app.inject({ url: `/agents/${name}/versions`, headers: as('viewer') });
  return { status: answer.statusCode, body: answer.json<Record<string, unknown>>() };
};

test('GET /agents/{name}/versions: newest first, with texts, times, diff and the steps that used each', async () => {
  await store(used('v1', 0), used('v1', 9_000, { step_name: 'Also_here' }), used('v2', 5_000, { prompt_hash: 'p2' }));
  await keep('v1', { texts: { soulMd: 'Be calm. \0 🦉', agentYaml: 'model: m\n' } });
  await keep('v2', { texts: { soulMd: 'Be calm. \0 🦉', agentYaml: 'model: n\n' } });
  expect(await get('reader')).toEqual({
    status: 200,
    body: {
      agent: 'gateway:reader',
      versions: [
        {
          agent_version: 'v2',
          soul_md: 'Be calm. \0 🦉',
          agent_yaml: 'model: n\n',
          note: null,
          first_seen_at: '2026-11-21T12:00:05.000Z',
          last_seen_at: '2026-11-21T12:00:05.000Z',
          diff_from_previous: '--- v1/agent.yaml\n+++ v2/agent.yaml\n@@ -1,1 +1,1 @@\n-model: m\n+model: n\n',
          used_by_steps: ['look'],
        },
        {
          agent_version: 'v1',
          soul_md: 'Be calm. \0 🦉',
          agent_yaml: 'model: m\n',
          note: null,
          first_seen_at: '2026-11-21T12:00:00.000Z',
          last_seen_at: '2026-11-21T12:00:09.000Z',
          diff_from_previous: null,
          used_by_steps: ['Also_here', 'look'],
        },
      ],
    },
  });
});

test('a version whose text could not be had is there all the same and says why', async () => {
  await store(used('v1', 0));
  await keep('v1', { note: 'The agent had changed.' });
  const { body } = await get('reader');
  expect(body['versions']).toMatchObject([{ soul_md: null, agent_yaml: null, note: 'The agent had changed.' }]);
});

test('no snapshot of this agent: 404, and the agents of another backend have none', async () => {
  await store(used('v1', 0, { executor: 'external', agent: 'outside', agent_version: '' }));
  for (const name of ['nobody', 'outside', 'read'])
    expect(await get(name)).toMatchObject({ status: 404, body: { detail: { type: 'not_found' } } });
});

test('a text is wanted until it is had or gone, and once more when a version that was gone is used again', async () => {
  await store(used('v1', 0), used('v2', 0), used('v3', 0));
  expect(await wanted()).toHaveLength(3);
  await keep('v1', { texts: { soulMd: 's', agentYaml: 'y' } });
  await keep('v2', { note: 'gone' });
  await keep('v3', { note: 'down', wanted: true });
  expect((await wanted()).map(({ version }) => version)).toEqual(['v3']);
  await store(used('v1', 9), used('v2', 9));
  expect((await wanted()).map(({ version }) => version)).toEqual(['v2', 'v3']);
  await keep('v1', { note: 'worse luck' });
  const { body } = await get('reader');
  const versions = body['versions'] as { agent_version: string }[];
  expect(versions.find(({ agent_version: version }) => version === 'v1')).toMatchObject({ soul_md: 's', note: null });
});
