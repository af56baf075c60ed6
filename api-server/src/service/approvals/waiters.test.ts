import { expect, test } from 'vitest';
import { createWaiters } from './waiters.ts';

const { signal } = new AbortController();

test('a wake ends the pauses of its question alone, and who left is not asked for any more', async () => {
  const waiters = createWaiters();
  const enter = (id: string) => waiters.enter({ id, runId: `run of ${id}`, team: 'shop', stage: 'production' });
  const [a, again, b] = [enter('a'), enter('a'), enter('b')];
  const woken: string[] = [];
  const paused = [a, again].map((one) => one.pause(3_600_000, signal).then(() => woken.push('a')));
  const other = new AbortController();
  const still = b.pause(3_600_000, other.signal).then(() => woken.push('b'));
  waiters.wake('a');
  waiters.wake('none');
  await Promise.all(paused);
  expect(woken).toEqual(['a', 'a']);
  a.leave();
  expect([waiters.has('a'), waiters.asks('run of a'), waiters.pendingByTeam().get('shop')]).toEqual([true, true, 2]);
  again.leave();
  again.leave();
  expect([waiters.has('a'), waiters.asks('run of a'), waiters.has('b')]).toEqual([false, false, true]);
  other.abort();
  await still;
});
