import { expect, test } from 'vitest';
import { createUses, type UsedBy, type VersionUse } from './uses.ts';

const STEP: UsedBy = {
  stepName: 'look',
  promptHash: 'p1',
  executor: 'gateway',
  agent: 'a',
  agentVersion: 'v1',
  startedAt: 1_000,
};

/** Uses over a store that is told when to answer. */
function notebook() {
  const batches: VersionUse[][] = [];
  const waiting: PromiseWithResolvers<void>[] = [];
  const heard: number[] = [];
  const warnings: unknown[] = [];
  const uses = createUses({
    store: (batch) => {
      batches.push([...batch]);
      const answer = Promise.withResolvers<void>();
      waiting.push(answer);
      return answer.promise;
    },
    stored: (batch) => heard.push(batch.length),
    log: { warn: (fields) => void warnings.push(fields) },
  });
  const settle = (error?: Error) => (error ? waiting.shift()?.reject(error) : waiting.shift()?.resolve());
  /** Lets what was answered take effect. */
  const turn = () => new Promise((resolve) => void setImmediate(resolve));
  const answer = async (error?: Error) => {
    await turn();
    settle(error);
    await turn();
  };
  return { uses, batches, heard, warnings, answer, turn };
}

test('an edition that nobody knew is stored at once, and told to who waits for it', async () => {
  const { uses, batches, heard, answer } = notebook();
  uses.note(STEP);
  await answer();
  const edition = { step_name: 'look', prompt_hash: 'p1', executor: 'gateway', agent: 'a', agent_version: 'v1' };
  expect(batches).toEqual([[{ ...edition, first_seen_at: 1_000, last_seen_at: 1_000 }]]);
  expect(heard).toEqual([1]);
});

test('a known edition is stored again after a minute of use, or when somebody asks', async () => {
  const { uses, batches, answer } = notebook();
  uses.note(STEP);
  await answer();
  uses.note({ ...STEP, startedAt: 60_999 });
  await answer();
  expect(batches).toHaveLength(1);
  uses.note({ ...STEP, startedAt: 61_000 });
  await answer();
  expect(batches[1]).toMatchObject([{ first_seen_at: 60_999, last_seen_at: 61_000 }]);
  uses.note({ ...STEP, startedAt: 61_001 });
  const asked = uses.flush();
  await answer();
  await asked;
  expect(batches[2]).toMatchObject([{ last_seen_at: 61_001 }]);
});

test('who asks gets what was noted while an earlier batch was being stored', async () => {
  const { uses, batches, answer, turn } = notebook();
  uses.note(STEP);
  await turn();
  uses.note({ ...STEP, agentVersion: 'v2' });
  const asked = uses.flush();
  await answer();
  await answer();
  await asked;
  expect(batches.flat().map(({ agent_version }) => agent_version)).toEqual(['v1', 'v2']);
});

test('what could not be stored is kept for the next time, and nobody is disturbed', async () => {
  const { uses, batches, warnings, heard, answer } = notebook();
  uses.note(STEP);
  await answer(new Error('the disk is full'));
  expect(warnings).toHaveLength(1);
  uses.note({ ...STEP, startedAt: 500 });
  await answer();
  expect(batches[1]).toMatchObject([{ first_seen_at: 500, last_seen_at: 1_000 }]);
  expect(heard).toEqual([1]);
});

test('branches are one step, and several editions come in one order', async () => {
  const { uses, batches, answer } = notebook();
  uses.note({ ...STEP, stepName: 'each/1', startedAt: 3 });
  uses.note({ ...STEP, stepName: 'each/0', startedAt: 2 });
  uses.note({ ...STEP, stepName: 'before' });
  await answer();
  expect(batches[0]?.map(({ step_name, first_seen_at }) => [step_name, first_seen_at])).toEqual([
    ['before', 1_000],
    ['each', 2],
  ]);
});

test('a step without prompt and version is no edition; what another backend calls a version is none either', async () => {
  const { uses, batches, answer } = notebook();
  uses.note({ ...STEP, executor: 'human', promptHash: null, agent: null, agentVersion: null });
  await answer();
  expect(batches).toEqual([]);
  uses.note({ ...STEP, executor: 'external', agentVersion: 'at random' });
  await answer();
  expect(batches).toMatchObject([[{ executor: 'external', prompt_hash: 'p1', agent_version: '' }]]);
});

test('while the database refuses, five thousand editions are noted and no more', async () => {
  const { uses, batches, answer, turn } = notebook();
  uses.note(STEP);
  await turn();
  for (let n = 0; n < 6_000; n++) uses.note({ ...STEP, agentVersion: `v${n}` });
  await answer();
  const asked = uses.flush();
  await answer();
  await asked;
  expect(batches[1]).toHaveLength(5_000);
});
