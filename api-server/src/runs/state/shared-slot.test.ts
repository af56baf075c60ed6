import { expect, test } from 'vitest';
import { createCapacity, slotOf } from '../run/capacity.ts';
import { holdSlot, shareSlot } from './shared-slot.ts';
import { Stopped } from './stopped.ts';

/** A group of two branches that wait for people, and another run that has the only slot meanwhile. */
async function twoThatRest() {
  const capacity = createCapacity(1);
  const { join } = shareSlot(slotOf(capacity, capacity.tryTake()));
  const [one, other] = [join(), join()];
  one.slot.giveBack();
  other.slot.giveBack();
  expect(capacity.tryTake()).toBe(true);
  return { capacity, one, other, stopped: new AbortController(), going: new AbortController() };
}
const timeout = () => new Stopped('run_timeout', 'the run took longer than 5 s');

test('a branch that is stopped while it waits for the slot does not stop those that wait with it', async () => {
  const { capacity, one, other, stopped, going } = await twoThatRest();
  const first = holdSlot(one.slot, stopped.signal);
  const second = holdSlot(other.slot, going.signal);
  stopped.abort(timeout());
  await first;
  capacity.release();
  await second;
  expect(capacity.active()).toBe(1);
  other.leave();
  one.leave();
});

test('a branch that was stopped without the slot takes it for what it does next', async () => {
  const { capacity, one, other, stopped, going } = await twoThatRest();
  const first = holdSlot(one.slot, stopped.signal);
  stopped.abort(timeout());
  await first;
  const next = holdSlot(one.slot, going.signal);
  expect(capacity.waiting()).toBe(1);
  capacity.release();
  await next;
  expect(capacity.active()).toBe(1);
  one.slot.giveBack();
  expect(capacity.active()).toBe(0);
  other.leave();
  one.leave();
});
