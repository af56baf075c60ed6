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
