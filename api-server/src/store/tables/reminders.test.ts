import { afterEach, beforeEach, expect, test } from 'vitest';
import { notificationOf } from '../../notify/fixtures/run.ts';
import { settle } from '../../notify/settle.ts';
import { createEscalations } from '../../service/attention/attention.ts';
import type { Actor } from '../../service/actor.ts';
import { NOW, openTestStore, runIdOf, type TestStore } from '../../web/fixtures/store.ts';
import { createOutbox, insertNotifications } from './outbox.ts';

const RUN = runIdOf(1);
const MINUTE = 60_000;
const ADA: Actor = { name: 'ada', kind: 'token', role: 'operator', requestId: null };
let store: TestStore;
let at: number;

beforeEach(async () => {
  store = await openTestStore();
  at = NOW + 1_500;
  await store.addRun(1, { status: 'escalated', completed_at: at });
  const one = notificationOf({ id: `${RUN}/remind/1/0`, runId: RUN, event: 'remind', createdAt: at + MINUTE });
  const reminder = { ...one, message: { ...one.message, repeatMs: MINUTE } };
  await store.database.write((tx) => insertNotifications(tx, [reminder]));
});
afterEach(() => store.close());

const outbox = () => createOutbox(store.database);
const escalations = () => createEscalations({ database: store.database, now: () => at });
const rows = () =>
  store.database.db.selectFrom('notifications').select(['id', 'status', 'due_at']).orderBy('created_at').execute();
const PATIENCE = { giveUpMs: 1000, forward: () => null };

/** What the sender does when its clock says so; answers how many messages were due. */
async function sendDue(): Promise<number> {
  const claimed = await outbox().claim({ now: at, until: at + 15_000, limit: 10 });
  for (const one of claimed) await outbox().settle(settle(one, { ok: true }, at, PATIENCE));
  return claimed.length;
}

test('a reminder is sent when it is due and not before, once, and the next one follows', async () => {
  expect(await sendDue()).toBe(0);
  at += MINUTE;
  const sent = await Promise.all([sendDue(), sendDue()]);
  expect(sent.toSorted()).toEqual([0, 1]);
  expect(await rows()).toMatchObject([
    { id: `${RUN}/remind/1/0`, status: 'sent' },
    { id: `${RUN}/remind/2/0`, status: 'pending', due_at: at + MINUTE },
  ]);
  at += MINUTE;
  expect(await sendDue()).toBe(1);
});

test.each(['acknowledge', 'resolve'] as const)(
  'nobody is reminded after %s, and again once the run is reopened',
  async (action) => {
    if (action === 'acknowledge') await escalations().acknowledge(RUN, { note: null }, ADA);
    else await escalations().resolve(RUN, { resolution: 'handled', note: null }, ADA);
    at += 5 * MINUTE;
    expect([await sendDue(), (await rows())[0]?.status]).toEqual([0, 'dismissed']);
    await escalations().reopen(RUN, { note: null }, ADA);
    expect(await sendDue()).toBe(0);
    at += MINUTE;
    expect(await sendDue()).toBe(1);
  },
);

test('a rerun that completes ends the reminders of its original', async () => {
  await store.addRun(2, { status: 'completed', rerun_of: RUN });
  at += MINUTE;
  expect(await sendDue()).toBe(0);
});

test('an acknowledgement while a reminder is on its way leaves it the last one', async () => {
  at += MINUTE;
  const [claimed] = await outbox().claim({ now: at, until: at + 15_000, limit: 10 });
  await escalations().acknowledge(RUN, { note: null }, ADA);
  await outbox().settle(settle(claimed!, { ok: true }, at, PATIENCE));
  expect((await rows()).filter(({ status }) => status === 'pending')).toEqual([]);
});

test('of a run that nobody looks at for weeks the last reminders are kept', async () => {
  for (let sent = 0; sent < 30; sent++) {
    at += MINUTE;
    await sendDue();
  }
  expect((await rows()).length).toBeLessThan(15);
});
