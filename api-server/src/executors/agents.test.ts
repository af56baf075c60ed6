import { expect, test } from 'vitest';
import type { AgentBackend } from '../runs/state/executor.ts';
import { agentVersions, listAgents, versionIn } from './agents.ts';

const backend = (name: AgentBackend['name'], list: AgentBackend['list']): AgentBackend => ({
  name,
  list,
  run: () => Promise.reject(new Error('nobody asks')),
  approvals: () => Promise.resolve(null),
  close: () => undefined,
});
const up = (name: AgentBackend['name'], agent: string) =>
  backend(name, () => Promise.resolve({ ok: true, agents: [{ name: agent, model: 'm' }] }));
const down = (name: AgentBackend['name'], type: string) =>
  backend(name, () => Promise.resolve({ ok: false, type, message: 'connection refused', retryable: true }));

test('agents of both backends are merged under their executor', async () => {
  expect(await listAgents([up('gateway', 'a'), up('external', 'b')])).toEqual({
    agents: [
      { name: 'a', executor: 'gateway', model: 'm' },
      { name: 'b', executor: 'external', model: 'm' },
    ],
    errors: {},
  });
});

test('a backend that is down contributes no agents and an entry in errors', async () => {
  expect(await listAgents([down('gateway', 'unreachable'), up('external', 'b')])).toEqual({
    agents: [{ name: 'b', executor: 'external', model: 'm' }],
    errors: { gateway: 'connection refused' },
  });
  expect(await listAgents([down('external', 'cancelled')])).toEqual({
    agents: [],
    errors: { external: 'no answer in time' },
  });
});

test('a thousand agents are taken from one list, and it is said that there are more', async () => {
  const agents = Array.from({ length: 1001 }, (_, at) => ({ name: `a${at}`, model: 'm' }));
  const many = backend('external', () => Promise.resolve({ ok: true, agents }));
  const listed = await listAgents([many, up('gateway', 'a')]);
  expect(listed.agents.map(({ name }) => name)).toEqual([...agents.slice(0, 1000).map(({ name }) => name), 'a']);
  expect(listed.errors).toEqual({ external: 'it lists 1001 agents; the first 1000 are taken' });
});

test('without a backend there is nothing to list', async () => {
  expect(await listAgents([])).toEqual({ agents: [], errors: {} });
});

test('versions are those that each backend says; who is down or says none has none', async () => {
  const told = backend('gateway', () =>
    Promise.resolve({
      ok: true,
      agents: [
        { name: 'a', model: 'm', version: 'v1' },
        { name: 'b', model: 'm' },
        { name: 'long', model: 'm', version: 'x'.repeat(200) },
      ],
    }),
  );
  const versionOf = versionIn(await agentVersions([told, down('external', 'unreachable')]));
  expect([versionOf('gateway', 'a'), versionOf('gateway', 'b'), versionOf('external', 'a')]).toEqual([
    'v1',
    null,
    null,
  ]);
  expect(versionOf('gateway', 'long')).toHaveLength(100);
  expect((await listAgents([told])).agents[0]).toEqual({ name: 'a', executor: 'gateway', model: 'm' });
});
