import { expect, test } from 'vitest';
import { type AgentAnswer, createAgentTexts, type FoundTexts, textsFrom, type WantedVersion } from './agent-texts.ts';
import type { VersionUse } from './uses.ts';

const found = (version: string): AgentAnswer => ({ kind: 'found', version, soulMd: 'soul', agentYaml: 'model: m' });
const DOWN: AgentAnswer = { kind: 'unreachable', message: 'Nothing listens there.' };

test.each<[string, AgentAnswer, Partial<FoundTexts>]>([
  ['the same version', found('v1'), { texts: { soulMd: 'soul', agentYaml: 'model: m' }, note: null, wanted: false }],
  [
    'another version',
    found('v2'),
    { texts: null, note: 'The agent had changed to version v2 before the text of this one was read.', wanted: false },
  ],
  [
    'no such agent',
    { kind: 'unknown' },
    { texts: null, note: expect.stringContaining('no agent of this name'), wanted: false },
  ],
  [
    'a gateway that is down',
    DOWN,
    { texts: null, note: expect.stringContaining('Nothing listens there.'), wanted: true },
  ],
  ['no address', { kind: 'not_configured' }, { texts: null, note: expect.stringContaining('rest_url'), wanted: true }],
])('an answer with %s', (_, answer, expected) => {
  expect(textsFrom({ agent: 'a', version: 'v1' }, answer)).toMatchObject({ agent: 'a', version: 'v1', ...expected });
});

/** A gateway and a store that are played by hand. */
function site(wanted: WantedVersion[], answers: Record<string, AgentAnswer>) {
  const asked: string[] = [];
  const kept = new Map<string, FoundTexts>();
  const timers: { milliseconds: number; call: () => void; off: boolean }[] = [];
  const warnings: unknown[] = [];
  const state = { refuses: false };
  const texts = createAgentTexts({
    wanted: (limit) =>
      Promise.resolve(
        wanted.filter(({ agent, version }) => kept.get(`${agent} ${version}`)?.wanted !== false).slice(0, limit),
      ),
    ask: (agent) => {
      asked.push(agent);
      return Promise.resolve(answers[agent] ?? { kind: 'unknown' });
    },
    keep: (batch) => {
      if (state.refuses) return Promise.reject(new Error('the disk is full'));
      for (const one of batch) kept.set(`${one.agent} ${one.version}`, one);
      return Promise.resolve();
    },
    later: (milliseconds, call) => {
      const timer = { milliseconds, call, off: false };
      timers.push(timer);
      return () => void (timer.off = true);
    },
    log: { warn: (fields) => void warnings.push(fields) },
  });
  const settled = async () => {
    for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => void setImmediate(resolve));
  };
  return { texts, asked, kept, timers, warnings, answers, state, settled };
}

const USE = { executor: 'gateway', agent: 'a', agent_version: 'v1' } as VersionUse;

test('each agent is asked once for all its versions, and the texts that fit are kept', async () => {
  const { texts, asked, kept, timers, settled } = site(
    [
      { agent: 'a', version: 'v1' },
      { agent: 'a', version: 'v2' },
      { agent: 'b', version: 'v1' },
    ],
    { a: found('v2') },
  );
  texts.heard([USE]);
  await settled();
  expect(asked).toEqual(['a', 'b']);
  expect([...kept].map(([key, { texts: kind }]) => [key, kind !== null])).toEqual([
    ['a v1', false],
    ['a v2', true],
    ['b v1', false],
  ]);
  expect(timers).toEqual([]);
});

test('more versions than a round takes are asked for in further rounds', async () => {
  const wanted = Array.from({ length: 120 }, (_, n) => ({ agent: `agent-${n}`, version: 'v1' }));
  const { texts, asked, settled } = site(wanted, {});
  texts.start();
  await settled();
  expect(asked).toHaveLength(120);
});

test('a gateway that is down is asked again in a minute, and only the first agent until it answers', async () => {
  const { texts, asked, kept, timers, answers, settled } = site(
    [
      { agent: 'a', version: 'v1' },
      { agent: 'b', version: 'v1' },
    ],
    { a: DOWN, b: DOWN },
  );
  texts.start();
  await settled();
  expect(asked).toEqual(['a']);
  expect(kept.get('a v1')?.note).toContain('could not be asked yet');
  expect(timers.map(({ milliseconds }) => milliseconds)).toEqual([60_000]);
  Object.assign(answers, { a: found('v1'), b: found('v1') });
  timers[0]?.call();
  await settled();
  expect(kept.get('a v1')?.texts).not.toBeNull();
  expect(kept.get('b v1')?.texts).not.toBeNull();
  expect(timers).toHaveLength(1);
});

test('without an address every version says so, and nothing is tried again', async () => {
  const nowhere: AgentAnswer = { kind: 'not_configured' };
  const { texts, kept, timers, settled } = site(
    [
      { agent: 'a', version: '1' },
      { agent: 'b', version: '1' },
    ],
    { a: nowhere },
  );
  texts.heard([USE]);
  await settled();
  expect([...kept.values()].map(({ note }) => note?.includes('rest_url'))).toEqual([true, true]);
  expect(timers).toEqual([]);
});

test('what cannot be kept is fetched again later, and nobody is disturbed', async () => {
  const { texts, kept, timers, warnings, state, settled } = site([{ agent: 'a', version: 'v1' }], { a: found('v1') });
  state.refuses = true;
  texts.start();
  await settled();
  expect([warnings.length, timers.length]).toEqual([1, 1]);
  state.refuses = false;
  timers[0]?.call();
  await settled();
  expect(kept.get('a v1')?.texts).not.toBeNull();
});

test('editions of prompts alone ask nobody, and after the end nothing is asked', async () => {
  const { texts, asked, timers, settled } = site([{ agent: 'a', version: 'v1' }], { a: DOWN });
  texts.heard([
    { ...USE, agent_version: '' },
    { ...USE, executor: 'external' },
  ]);
  await settled();
  expect(asked).toEqual([]);
  texts.start();
  await settled();
  texts.stop();
  expect(timers.map(({ off }) => off)).toEqual([true]);
  texts.heard([USE]);
  await settled();
  expect(asked).toHaveLength(1);
});
