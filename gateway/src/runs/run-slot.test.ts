import { expect, test } from 'vitest';
import { RunQueue } from './run-queue.ts';
import { RunSlot } from './run-slot.ts';

const LIMITS = { maxConcurrentRuns: 1, maxQueuedRuns: 2, maxWaitingApprovals: 1 };

const SHARE = { key: 'pipeline a', isBounded: false };

async function running(queue: RunQueue, signal = new AbortController().signal) {
  const ticket = queue.enter(SHARE, signal, () => {});
  if (!ticket) throw new Error('the queue is full');
  const slot = new RunSlot(queue, ticket, { share: SHARE, signal });
  await slot.first();
  return slot;
}

function decision() {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  return { wait: () => promise, resolve, reject };
}

test('a run takes its slot again before the runs that queue', async () => {
  const queue = new RunQueue(LIMITS);
  const first = await running(queue);
  const { wait, resolve } = decision();
  const order: string[] = [];
  const approved = first.duringApproval(wait).then(() => order.push('approved'));
  const second = await running(queue);
  const third = running(queue).then((slot) => {
    order.push('third');
    return slot;
  });
  resolve('yes');
  await expect.poll(() => queue.queued()).toBe(2);
  second.end();
  await approved;
  first.end();
  await third;
  expect(order).toEqual(['approved', 'third']);
});

test('beyond the limit of waiting approvals a run keeps its slot', async () => {
  const queue = new RunQueue(LIMITS);
  const [first, second] = [decision(), decision()];
  const waiting = (await running(queue)).duringApproval(first.wait);
  const keeps = await running(queue);
  const kept = keeps.duringApproval(second.wait);
  expect([queue.active(), queue.waitingApprovals()]).toEqual([1, 2]);
  second.resolve('yes');
  expect(await kept).toBe('yes');
  keeps.end();
  first.resolve('no');
  expect(await waiting).toBe('no');
  expect([queue.active(), queue.waitingApprovals()]).toEqual([1, 0]);
});

test('two approvals of one run give back and take one slot', async () => {
  const queue = new RunQueue({ ...LIMITS, maxWaitingApprovals: 2 });
  const slot = await running(queue);
  const [first, second] = [decision(), decision()];
  const both = [slot.duringApproval(first.wait), slot.duringApproval(second.wait)];
  expect([queue.active(), slot.state()]).toEqual([0, 'approval']);
  first.resolve('yes');
  second.resolve('no');
  expect(await Promise.all(both)).toEqual(['yes', 'no']);
  expect([queue.active(), slot.state()]).toEqual([1, 'active']);
  slot.end();
  expect(queue.active()).toBe(0);
});

test('a run that is cancelled while it waits holds nothing', async () => {
  const queue = new RunQueue(LIMITS);
  const abort = new AbortController();
  const slot = await running(queue, abort.signal);
  const { wait, reject } = decision();
  const waiting = slot.duringApproval(wait);
  abort.abort();
  reject(new Error('cancelled'));
  await expect(waiting).rejects.toThrow('cancelled');
  slot.end();
  expect([queue.active(), queue.waitingApprovals(), queue.queued()]).toEqual([0, 0, 0]);
});

test('while a run waits for an approval its other work takes the slot again, in its turn', async () => {
  const queue = new RunQueue(LIMITS);
  const first = await running(queue);
  const { wait, resolve } = decision();
  const approved = first.duringApproval(wait);
  const second = await running(queue);
  const done: string[] = [];
  const work = first.working(async () => void done.push(`work in ${queue.active()} slot`));
  await expect.poll(() => queue.queued()).toBe(1);
  expect([done, first.state()]).toEqual([[], 'queued']);
  second.end();
  await work;
  expect(done).toEqual(['work in 1 slot']);
  expect([queue.active(), first.state()]).toEqual([0, 'approval']);
  resolve('yes');
  expect(await approved).toBe('yes');
  expect([queue.active(), first.state()]).toEqual([1, 'active']);
});

test('a run whose other work goes on keeps its slot when it asks', async () => {
  const queue = new RunQueue(LIMITS);
  const slot = await running(queue);
  const [question, work] = [decision(), decision()];
  const working = slot.working(work.wait);
  const asked = slot.duringApproval(question.wait);
  expect(queue.active()).toBe(1);
  work.resolve('done');
  await working;
  expect([queue.active(), slot.state()]).toEqual([0, 'approval']);
  question.resolve('yes');
  await asked;
  slot.end();
  expect(queue.active()).toBe(0);
});

test('a run with several questions takes one place of those that wait for approvals', async () => {
  const queue = new RunQueue({ ...LIMITS, maxWaitingApprovals: 2 });
  const questions = [1, 2, 3].map(() => decision());
  const first = await running(queue);
  const all = questions.map(({ wait }) => first.duringApproval(wait));
  const other = decision();
  const second = (await running(queue)).duringApproval(other.wait);
  expect([queue.active(), queue.waitingApprovals()]).toEqual([0, 4]);
  for (const { resolve } of [...questions, other]) resolve('yes');
  await Promise.all(all);
  first.end();
  await second;
});

test('work of a run that is cancelled before it has a slot is not done', async () => {
  const queue = new RunQueue(LIMITS);
  const abort = new AbortController();
  const first = await running(queue, abort.signal);
  const { wait, reject } = decision();
  const asked = first.duringApproval(wait);
  const second = await running(queue);
  const work = first.working(() => Promise.resolve('done'));
  abort.abort(new Error('cancelled'));
  reject(new Error('cancelled'));
  await expect(work).rejects.toThrow('cancelled');
  await expect(asked).rejects.toThrow('cancelled');
  first.end();
  second.end();
  expect([queue.active(), queue.queued()]).toEqual([0, 0]);
});

test('work that waits for a slot when the run ends is not done, and leaves the queue', async () => {
  const queue = new RunQueue(LIMITS);
  const first = await running(queue);
  const question = decision();
  const asked = first.duringApproval(question.wait);
  const second = await running(queue);
  const done: string[] = [];
  const work = first.working(async () => void done.push('late'));
  expect(queue.queued()).toBe(1);
  first.end();
  expect(queue.queued()).toBe(0);
  await expect(work).rejects.toThrow('the run is over');
  second.end();
  question.resolve('yes');
  await expect(asked).rejects.toThrow('the run is over');
  expect([done, queue.active(), queue.queued(), queue.waitingApprovals()]).toEqual([[], 0, 0, 0]);
});

test('work of a run that ends when it gets its slot is not done', async () => {
  const queue = new RunQueue(LIMITS);
  const first = await running(queue);
  const asked = first.duringApproval(decision().wait);
  const second = await running(queue);
  const done: string[] = [];
  const work = first.working(async () => void done.push('late'));
  second.end();
  first.end();
  await expect(work).rejects.toThrow('the run is over');
  expect([done, queue.active()]).toEqual([[], 0]);
  void asked;
});

test('a question that is answered while others are open takes no slot; the last answer does', async () => {
  const queue = new RunQueue(LIMITS);
  const slot = await running(queue);
  const [first, second, third] = [decision(), decision(), decision()];
  const all = [first, second, third].map(({ wait }) => slot.duringApproval(wait));
  for (const { resolve } of [first, second]) resolve('no');
  expect(await Promise.all(all.slice(0, 2))).toEqual(['no', 'no']);
  expect([queue.active(), slot.state()]).toEqual([0, 'approval']);
  third.resolve('yes');
  await Promise.all(all);
  expect([queue.active(), slot.state()]).toEqual([1, 'active']);
});

test('a run that asks again while it waits for a slot gives that back', async () => {
  const queue = new RunQueue(LIMITS);
  const slot = await running(queue);
  const [first, second] = [decision(), decision()];
  const asked = slot.duringApproval(first.wait);
  const other = await running(queue);
  first.resolve('yes');
  await expect.poll(() => queue.queued()).toBe(1);
  const again = slot.duringApproval(second.wait);
  other.end();
  expect(await asked).toBe('yes');
  expect([queue.active(), slot.state()]).toEqual([0, 'approval']);
  second.resolve('yes');
  await again;
  expect([queue.active(), slot.state()]).toEqual([1, 'active']);
});
