import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { GroupCommit } from './group-commit.ts';

/** Transactions of which every step is done by the test. */
function held() {
  const done: string[] = [];
  const commit = Promise.withResolvers<void>();
  const commits = new GroupCommit<string>({
    tx: 'tx',
    begin: () => void done.push('begin'),
    commit: () => (done.push('commit'), commit.promise),
    rollback: () => void done.push('rollback'),
    faultOf: () => 'unavailable',
  });
  return { commits, done, commit };
}

test('a write is answered once its commit is done, and not before', async () => {
  const { commits, done, commit } = held();
  const write = commits.write(() => 'answer').then((answer) => done.push(answer));
  await expect.poll(() => done).toEqual(['begin', 'commit']);
  commit.resolve();
  await write;
  expect(done).toEqual(['begin', 'commit', 'answer']);
});

test('a commit that fails rejects every write of its transaction', async () => {
  const { commits, done, commit } = held();
  const writes = Promise.allSettled([commits.write(() => 1), commits.write(() => 2)]);
  await expect.poll(() => done).toContain('commit');
  commit.reject(new Error('the disk is full'));
  expect((await writes).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
});

test('writes of a few turns share a transaction, and none waits longer for more of them', async () => {
  const { commits, done, commit } = held();
  commit.resolve();
  const writes: Promise<unknown>[] = [];
  for (let turn = 1; turn <= 8; turn += 1) {
    writes.push(commits.write(() => done.push(`write ${turn}`)));
    await nextTurn();
  }
  await Promise.all(writes);
  const [first, second] = [done.indexOf('commit'), done.lastIndexOf('commit')];
  expect(done.slice(0, first + 1)).toEqual(['begin', 'write 1', 'write 2', 'write 3', 'commit']);
  expect(done.slice(second - 2, second + 1)).toEqual(['write 7', 'write 8', 'commit']);
});

/** Of two jobs and a half. */
const MOST_MS = 50;
const JOB_MS = 20;

/** Transactions whose jobs take their time, and every turn of the event loop until all of them are done. */
async function paced(jobs: number, failing?: number) {
  const done: string[] = [];
  const state = { now: 0, over: false };
  const transactions = {
    tx: 'tx',
    begin: () => undefined,
    commit: () => void done.push('commit'),
    rollback: () => void done.push('rollback'),
    faultOf: () => 'job' as const,
  };
  const commits = new GroupCommit<string>(transactions, { mostMs: MOST_MS, now: () => state.now });
  const writes = Array.from({ length: jobs }, (_, n) =>
    commits.write(() => {
      state.now += JOB_MS;
      done.push(`${n}`);
      if (n === failing) throw new Error('cannot be stored');
      return n;
    }),
  );
  const answers = Promise.allSettled(writes).finally(() => (state.over = true));
  while (!state.over) {
    if (done.length > 0 && done.at(-1) !== 'turn') done.push('turn');
    await nextTurn();
  }
  return { done: done.join(' ').replace(/ turn$/, ''), answers: await answers };
}

test('jobs that take long go on in their order in the next transaction, after a turn of the event loop', async () => {
  const { done, answers } = await paced(7);
  expect(done).toBe('0 1 2 commit turn 3 4 5 commit turn 6 commit');
  expect(answers).toEqual(Array.from({ length: 7 }, (_, value) => ({ status: 'fulfilled', value })));
});

test('jobs that run alone because one failed leave the event loop a turn, too', async () => {
  const { done, answers } = await paced(5, 1);
  expect(done).toBe('0 1 rollback 0 commit 1 rollback 2 commit turn 3 commit 4 commit');
  expect(answers.map(({ status }) => status).filter((status) => status === 'rejected')).toHaveLength(1);
});
