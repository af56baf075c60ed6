import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { RpcOutbox } from './rpc-outbox.ts';

/** A connection that is full once it has `room` frames, and drained by hand. */
function outboxOf(room: number, frameOf: (id: number) => string | null = String) {
  const sent: string[] = [];
  let unread = 0;
  let drained = Promise.withResolvers<void>();
  const connection = {
    send: (frame: string) => {
      sent.push(frame);
      unread += 1;
    },
    isFull: () => unread >= room,
    drained: () => drained.promise,
  };
  const drain = () => {
    unread = 0;
    drained.resolve();
    drained = Promise.withResolvers();
    return setImmediate();
  };
  return { outbox: new RpcOutbox(connection, frameOf), sent, drain };
}

test('calls wait while the connection is full, and each goes out once, also one that is made meanwhile', async () => {
  const { outbox, sent, drain } = outboxOf(2);
  outbox.sendLater([1, 2, 3, 4]);
  outbox.send(5, '5');
  await setImmediate();
  await expect.poll(() => sent).toEqual(['1', '2']);
  await drain();
  await expect.poll(() => sent).toEqual(['1', '2', '3', '4']);
  outbox.send(6, '6');
  await drain();
  await expect.poll(() => sent).toEqual(['1', '2', '3', '4', '5', '6']);
});

test('a new call waits while the connection is full of others', async () => {
  const { outbox, sent, drain } = outboxOf(1);
  outbox.send(1, '1');
  outbox.send(2, '2');
  expect(sent).toEqual(['1']);
  await drain();
  await expect.poll(() => sent).toEqual(['1', '2']);
});

test('a call that is settled meanwhile is not sent', async () => {
  const settled = new Set<number>();
  const { outbox, sent, drain } = outboxOf(1, (id) => (settled.has(id) ? null : String(id)));
  outbox.sendLater([1, 2, 3]);
  await expect.poll(() => sent).toEqual(['1']);
  settled.add(2);
  await drain();
  await expect.poll(() => sent).toEqual(['1', '3']);
});

test('a connection that ends gets nothing more', async () => {
  const { outbox, sent, drain } = outboxOf(1);
  outbox.sendLater([1, 2, 3]);
  await expect.poll(() => sent).toEqual(['1']);
  outbox.close();
  await drain();
  await expect.poll(() => sent).toEqual(['1']);
});
