import { createCompute } from '@signalbox/crds/process/compute';
import type { Pipeline } from '@signalbox/crds';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { NotificationsBlock } from '../config/notifications-schema.ts';
import { httpExecutor } from '../executors/http.ts';
import { createTemplates } from '../runs/prompt/templates.ts';
import { readCounters } from '../store/db/counters.ts';
import type { Database } from '../store/db/database.ts';
import { perform } from '../store/db/write.ts';
import { readEvents } from '../store/tables/bodies/run-bodies.ts';
import { newTestDatabase, type TestDatabase } from '../store/fixtures/test-database.ts';
import { listNotifications, resendNotification } from '../store/tables/notification-list.ts';
import { createOutbox } from '../store/tables/outbox.ts';
import { endRun, insertRun, keepDefinition } from '../store/tables/run-writes.ts';
import { type FakeChat, fakeReceiver, fakeSlack, SLACK_TOKEN, slackRateLimit } from './fixtures/chats.ts';
import { AT, pipelineOf, RUN_ID, runOf } from './fixtures/run.ts';
import { createNotifications, type Notifications } from './notifications.ts';
import { MAX_IN_FLIGHT, type Outbox } from './sender.ts';

let site: TestDatabase;
let database: Database;
let slack: FakeChat;
let notifications: Notifications;
let clock: number;
let lines: { level: string; fields: Record<string, unknown>; msg: string }[];
let settings: NotificationsBlock;

const ENV: Record<string, string> = { HOOK_SECRET: 'env-secret-value', SLACK_TOKEN };
const env = {
  valueOf: (name: string) => ENV[name],
  mask: (text: string) => Object.values(ENV).reduce((masked, value) => masked.replaceAll(value, '***'), text),
};
const note = (level: string) => (fields: object, msg: string) =>
  void lines.push({ level, fields: fields as Record<string, unknown>, msg });

function service(more: { tryMs?: number; outbox?: Outbox } = {}): Notifications {
  return createNotifications({
    settings,
    regressions: [],
    publicUrl: 'https://signalbox.example/',
    hears: () => false,
    dailyBytes: () => null,
    templates: createTemplates({ sandbox: true, compute: createCompute({ timeoutMs: 1000 }) }),
    env,
    http: httpExecutor(['0.0.0.0/0', '::/0']),
    receiversOf: async () => null,
    authorOf: async ({ pipeline: name }) => ({ name, isTenant: false }),
    guardedHttp: httpExecutor([]),
    outbox: createOutbox(database),
    log: { info: note('info'), warn: note('warn') },
    now: () => clock,
    tryMs: 60_000,
    ...more,
  });
}

beforeEach(async () => {
  site = await newTestDatabase();
  database = await site.open();
  slack = await fakeSlack();
  settings = {
    slack: { bot_token: SLACK_TOKEN, channel: '#alerts', api_url: slack.url },
    routes: {},
    give_up_after_seconds: 3_600,
  };
  clock = AT;
  lines = [];
  notifications = service();
});
afterEach(async () => {
  await notifications.sender.stop();
  await slack.close();
  await database.close();
  await site.remove();
});

const SAID = { escalate: [{ channel: 'slack' }] };

/** Ends a run in one transaction with its notifications, as the engine does. */
async function endRunOf(pipeline: Pipeline, id = RUN_ID): Promise<void> {
  const run = { ...runOf({ pipeline }), id };
  const writes = notifications.runEnded(run, { status: 'escalated', error: { step: 'look', message: 'trust is low' } });
  const { name } = pipeline;
  await database.write(async (tx) => {
    await keepDefinition(tx, { hash: name, kind: 'Pipeline', name, body: JSON.stringify(pipeline), stored_at: AT });
    await insertRun(tx, row(id, pipeline));
    await tx.db.insertInto('run_events').values({ run_id: id, first_seq: 1, events: '[{"seq":1}]' }).execute();
    await endRun(tx, {
      id,
      status: 'escalated',
      completed_at: AT,
      error_step: 'look',
      error_message: 'x',
      trust: null,
      threshold: null,
      input_tokens: 0,
      output_tokens: 0,
      cost: null,
      unpriced_steps: 0,
      warning_count: 0,
    });
    await perform(tx, writes);
  });
}

const row = (id: string, { name, stage }: Pipeline) => ({
  id,
  pipeline_name: name,
  definition_hash: name,
  source: 'generic',
  status: 'running' as const,
  team: null,
  stage,
  severity: null,
  summary: null,
  triggered_at: AT,
  fingerprint: null,
  dedup_key: null,
  started_by: null,
  namespace: null,
  parent_run_id: null,
  rerun_of: null,
  context: '{}',
  raw: null,
});

async function sendDue(): Promise<void> {
  await notifications.sender.poll();
  await notifications.sender.settled();
}

const stored = () => database.db.selectFrom('notifications').selectAll().execute();
const counters = async () => (await readCounters(database.db)).map(({ labels, value }) => [...labels, value]);
const events = async () => (await readEvents(database.db, RUN_ID, 1)).map(({ event, msg }) => [event, msg]);

describe('a run that ends tells its channel', () => {
  test('once, and says so in its log and its metric', async () => {
    await endRunOf(pipelineOf({ notifications: SAID }));
    await sendDue();
    await sendDue();
    expect(slack.received).toHaveLength(1);
    expect(slack.received[0]?.body['text']).toContain('*Escalated: checkout*');
    expect(await counters()).toEqual([['slack', 'sent', 1]]);
    expect(await events()).toEqual([['notification_sent', 'notification of escalate went to slack']]);
  });

  test('a channel that is away for 45 seconds gets the message afterwards', async () => {
    await endRunOf(pipelineOf({ notifications: SAID }));
    slack.limit = () => ({ status: 503 });
    for (let seconds = 0; seconds < 45; seconds += 1) {
      await sendDue();
      clock += 1_000;
    }
    expect(notifications.warnings()).toEqual([
      '1 message could not be delivered to slack yet; GET /notifications?status=pending lists it',
    ]);
    slack.limit = () => null;
    for (let seconds = 0; seconds < 30; seconds += 1) {
      await sendDue();
      clock += 1_000;
    }
    expect(await stored()).toMatchObject([{ status: 'sent', attempts: 6 }]);
    expect(notifications.warnings()).toEqual([]);
    const { tries } = (await listNotifications(database.db, {}, 1))[0]!;
    expect(tries!.map(({ error, request }) => [error, request?.method, request?.status])).toEqual([
      ...Array.from({ length: 5 }, () => ['slack: answered 503', 'POST', 503]),
      [null, 'POST', 200],
    ]);
    expect(tries![0]!.request!.url).toBe(`${new URL(slack.url).origin}/***`);
  });

  test('the pauses grow to ten minutes until it is given up, and the run is as it was', async () => {
    await endRunOf(pipelineOf({ notifications: SAID }));
    slack.limit = () => ({ status: 503 });
    const pauses: number[] = [];
    for (let before = clock; pauses.length < 20 && (await stored())[0]?.status === 'pending'; before = clock) {
      await sendDue();
      const [row] = await stored();
      clock = row?.due_at ?? 0;
      if (row?.status === 'pending') pauses.push((clock - before) / 1000);
    }
    expect(pauses).toEqual([2, 4, 8, 16, 32, 64, 128, 256, 512, 600, 600, 600, 600, 600]);
    expect(await stored()).toMatchObject([{ status: 'failed', attempts: 15, error: 'slack: answered 503' }]);
    expect(JSON.parse((await stored())[0]!.tries!)).toHaveLength(15);
    expect(await counters()).toEqual([['slack', 'failed', 1]]);
    expect(await events()).toEqual([
      ['notification_failed', 'notification of escalate failed after 15 tries: slack: answered 503'],
    ]);
    expect(lines).toMatchObject([
      { level: 'warn', msg: 'notification failed', fields: { channel: 'slack', run_id: RUN_ID } },
    ]);
    expect(await database.db.selectFrom('runs').select('status').execute()).toEqual([{ status: 'escalated' }]);
    clock += 10_000;
    await sendDue();
    expect(notifications.warnings()).toEqual([
      '1 message could not be delivered to slack; GET /notifications?status=failed lists it',
    ]);
  });

  test('what a channel does not take goes to the fallback channel, once', async () => {
    const receiver = await fakeReceiver();
    settings = { ...settings, fallback: { channel: 'webhook', config: { url: `${receiver.url}/in` } } };
    notifications = service();
    slack.limit = () => ({ status: 503 });
    await endRunOf(pipelineOf({ notifications: SAID }));
    await sendDue();
    clock += 3_600_000;
    await sendDue();
    await sendDue();
    expect(receiver.received).toHaveLength(1);
    expect(receiver.received[0]?.body).toMatchObject({ event: 'escalate', run: { id: RUN_ID } });
    expect(JSON.stringify(receiver.received[0]?.body)).toContain('slack did not take this message');
    expect((await stored()).map(({ channel, status }) => [channel, status])).toEqual([
      ['slack', 'forwarded'],
      ['webhook', 'sent'],
    ]);
    expect((await events()).map(([, msg]) => msg)).toEqual([
      'notification of escalate failed after 2 tries: slack: answered 503; it is sent to webhook instead',
      'notification of escalate went to webhook',
    ]);
    clock += 10_000;
    await sendDue();
    expect(notifications.warnings()).toEqual([]);
    await receiver.close();
  });

  test('a fallback that does not take it either has failed', async () => {
    settings = { ...settings, fallback: { channel: 'slack', config: { channel: '#nowhere' } } };
    notifications = service();
    await endRunOf(
      pipelineOf({ notifications: { escalate: [{ channel: 'slack', config: { channel: '#nowhere' } }] } }),
    );
    await sendDue();
    await sendDue();
    await sendDue();
    expect((await stored()).map(({ status }) => status)).toEqual(['forwarded', 'failed']);
  });

  test('a message that was given up is sent again from its first try', async () => {
    slack.limit = () => ({ status: 503 });
    await endRunOf(pipelineOf({ notifications: SAID }));
    clock += 3_600_000;
    await sendDue();
    expect(await stored()).toMatchObject([{ status: 'failed', attempts: 1 }]);
    expect(await database.write((tx) => resendNotification(tx, `${RUN_ID}/escalate/0`, clock))).toBe('failed');
    await sendDue();
    expect(await stored()).toMatchObject([{ status: 'pending', attempts: 1 }]);
    slack.limit = () => null;
    clock += 2_000;
    await sendDue();
    expect(await stored()).toMatchObject([{ status: 'sent', attempts: 2 }]);
    expect(await database.write((tx) => resendNotification(tx, `${RUN_ID}/escalate/0`, clock))).toBe('sent');
    expect(await stored()).toMatchObject([{ status: 'sent' }]);
  });

  test('a rate limit moves the next try to when the receiver wants it', async () => {
    await endRunOf(pipelineOf({ notifications: SAID }));
    slack.answer(slackRateLimit(30));
    await sendDue();
    clock += 29_999;
    await sendDue();
    expect(slack.received).toHaveLength(1);
    clock += 1;
    await sendDue();
    expect(await stored()).toMatchObject([{ status: 'sent', attempts: 1 }]);
  });

  test('what another try cannot mend is not tried again', async () => {
    await endRunOf(
      pipelineOf({ notifications: { escalate: [{ channel: 'slack', config: { channel: '#nowhere' } }] } }),
    );
    await sendDue();
    expect(await stored()).toMatchObject([{ status: 'failed', attempts: 1, error: 'slack: channel_not_found' }]);
  });

  test('one that fails keeps no other from going out', async () => {
    await endRunOf(
      pipelineOf({ notifications: { escalate: [{ channel: 'telegram' }, { channel: 'slack' }, { channel: 'log' }] } }),
    );
    await sendDue();
    expect((await stored()).map(({ channel, status }) => [channel, status]).sort()).toEqual([
      ['log', 'sent'],
      ['slack', 'sent'],
      ['telegram', 'failed'],
    ]);
  });
});

describe('a restart in the middle', () => {
  test('what was stored and not sent goes out after it, with the same id', async () => {
    const receiver = await fakeReceiver();
    settings.webhook = { url: receiver.url };
    notifications = service();
    await endRunOf(pipelineOf({ notifications: { escalate: [{ channel: 'webhook' }] } }));
    await database.close();
    database = await site.open();
    notifications = service();
    await sendDue();
    expect(receiver.received.map(({ headers }) => headers['webhook-id'])).toEqual([`${RUN_ID}/escalate/0`]);
    await receiver.close();
  });

  test('what was under way is tried again once its claim is over, and the try that was cut counts for nothing', async () => {
    await endRunOf(pipelineOf({ notifications: SAID }));
    slack.answer('hang');
    await notifications.sender.poll();
    await expect.poll(() => slack.received.length).toBe(1);
    await notifications.sender.stop();
    notifications = service();
    await sendDue();
    expect(slack.received).toHaveLength(1);
    clock += 15_000;
    await sendDue();
    expect(slack.received).toHaveLength(2);
    expect(await stored()).toMatchObject([{ status: 'sent', attempts: 1 }]);
  });
});

describe('testing pipelines', () => {
  test('speak to the log only, without counting', async () => {
    await endRunOf(pipelineOf({ stage: 'testing', notifications: SAID }));
    await sendDue();
    expect(slack.received).toEqual([]);
    expect(lines).toMatchObject([
      { level: 'info', msg: 'notification', fields: { instead_of: 'slack', pipeline: 'checkout', stage: 'testing' } },
    ]);
    expect(await counters()).toEqual([]);
    expect(await events()).toEqual([
      ['notification_sent', 'notification of escalate went to log instead of slack (testing)'],
    ]);
  });

  test('learn there what would keep a message from its channel', async () => {
    await endRunOf(
      pipelineOf({
        stage: 'testing',
        notifications: {
          escalate: [
            { channel: 'email', config: { to: 'a@example.com' } },
            { channel: 'slack', config: { bot_token: '${OTHER}' } },
          ],
        },
      }),
    );
    await sendDue();
    expect(lines.map(({ fields }) => fields['config_problem']).sort()).toEqual([
      'email: host is not set',
      'slack: ${OTHER} is not listed in security.pipeline_env',
    ]);
  });
});

describe('secrets', () => {
  test('stand in no row, no line and no error, and are read when a message is sent', async () => {
    const config = { bot_token: '${SLACK_TOKEN}', channel: '#alerts' };
    await endRunOf(pipelineOf({ notifications: { escalate: [{ channel: 'slack', config }] } }));
    expect(JSON.stringify(await stored())).not.toMatch(/xoxb|SLACK_TOKEN/);
    await sendDue();
    expect(slack.received[0]?.headers.authorization).toBe(`Bearer ${SLACK_TOKEN}`);
  });

  test('a name that the operator did not list is refused', async () => {
    await endRunOf(
      pipelineOf({ notifications: { escalate: [{ channel: 'slack', config: { bot_token: '${PATH}' } }] } }),
    );
    await sendDue();
    expect(await stored()).toMatchObject([
      { status: 'failed', error: 'slack: ${PATH} is not listed in security.pipeline_env' },
    ]);
  });

  test('an address of an author that holds one is not shown when it cannot be dialled', async () => {
    await endRunOf(
      pipelineOf({
        notifications: {
          escalate: [{ channel: 'webhook', config: { url: 'http://${HOOK_SECRET}.localhost/${HOOK_SECRET}' } }],
        },
      }),
    );
    await sendDue();
    const [only] = await stored();
    expect(only?.status).not.toBe('sent');
    expect(JSON.stringify([only, lines, await events()])).not.toContain('env-secret-value');
  });
});

test('at most a few sends go on at the same time', async () => {
  for (let run = 1; run <= 12; run += 1) {
    if (run <= MAX_IN_FLIGHT) slack.answer('hang');
    await endRunOf(
      pipelineOf({ notifications: SAID }),
      `00000000-0000-4000-8000-0000000001${String(run).padStart(2, '0')}`,
    );
  }
  await notifications.sender.poll();
  await expect.poll(() => slack.received.length).toBe(MAX_IN_FLIGHT);
  await notifications.sender.poll();
  expect((await stored()).filter(({ due_at }) => due_at > clock)).toHaveLength(MAX_IN_FLIGHT);
});

describe('a receiver that wants fewer messages', () => {
  test('gets a storm at its own pace, and none is lost', async () => {
    const allowed = { second: 0, count: 0 };
    slack.limit = () => {
      const second = Math.floor(clock / 1000);
      if (second !== allowed.second) Object.assign(allowed, { second, count: 0 });
      allowed.count += 1;
      return allowed.count > 2 ? slackRateLimit(1) : null;
    };
    for (let run = 10; run < 70; run += 1)
      await endRunOf(pipelineOf({ notifications: SAID }), `00000000-0000-4000-8000-0000000000${run}`);
    const open = async () => (await stored()).some(({ status }) => status === 'pending');
    for (let seconds = 0; seconds < 600 && (await open()); seconds += 1) {
      await sendDue();
      clock += 1_000;
    }
    expect(await counters()).toEqual([['slack', 'sent', 60]]);
  });

  test('is left alone by the others until then', async () => {
    slack.answer(slackRateLimit(30));
    await endRunOf(pipelineOf({ notifications: SAID }));
    await sendDue();
    await endRunOf(pipelineOf({ notifications: SAID }), '00000000-0000-4000-8000-000000000002');
    clock += 29_000;
    await sendDue();
    expect(slack.received).toHaveLength(1);
    expect((await stored()).map(({ status, attempts }) => [status, attempts])).toEqual([
      ['pending', 0],
      ['pending', 0],
    ]);
  });

  test('has failed when it still wants none when it is given up', async () => {
    slack.limit = () => ({ status: 429 });
    await endRunOf(pipelineOf({ notifications: SAID }));
    for (let minutes = 0; minutes < 70; minutes += 1) {
      await sendDue();
      clock += 60_000;
    }
    expect(await stored()).toMatchObject([{ status: 'failed', attempts: 1, error: 'slack: answered 429' }]);
    expect(slack.received.length).toBeLessThan(70);
  });
});

test('a heap of them goes out without waiting for the next look', async () => {
  for (let run = 10; run < 40; run += 1)
    await endRunOf(pipelineOf({ notifications: SAID }), `00000000-0000-4000-8000-0000000000${run}`);
  await notifications.sender.poll();
  await expect.poll(() => slack.received.length).toBe(30);
});

test('a try that gets no answer ends with its time and is tried again', async () => {
  notifications = service({ tryMs: 50 });
  await endRunOf(pipelineOf({ notifications: SAID }));
  slack.answer('hang');
  await sendDue();
  expect(await stored()).toMatchObject([{ status: 'pending', attempts: 1, error: 'slack: no answer within 0.05 s' }]);
});

test('a fault in what is to be said leaves the run its end', async () => {
  const run = runOf({ pipeline: pipelineOf({ notifications: SAID }) });
  Object.defineProperty(run.context, 'summary', {
    get: () => {
      throw new Error('our fault');
    },
  });
  expect(notifications.runEnded(run, { status: 'failed', error: { step: null, message: 'x' } })).toEqual([]);
  expect(notifications.runEnded(run, { status: 'escalated', error: { step: null, message: 'x' } })).toEqual([]);
  expect(run.noted.map(({ event }) => event)).toEqual(['notification_failed']);
  expect(lines.map(({ msg }) => msg)).toEqual(['notifications of a run could not be planned']);
});

test('a database that is away stops nothing for good', async () => {
  await endRunOf(pipelineOf({ notifications: SAID }));
  let broken = true;
  const real = createOutbox(database);
  notifications = service({
    outbox: { ...real, claim: (claim) => (broken ? Promise.reject(new Error('disk')) : real.claim(claim)) },
  });
  await sendDue();
  expect(lines).toMatchObject([{ level: 'warn', msg: 'the outbox of notifications cannot be read; trying again' }]);
  broken = false;
  await sendDue();
  expect(slack.received).toHaveLength(1);
});

test('rows go after 30 days', async () => {
  await endRunOf(pipelineOf({ notifications: SAID }));
  await sendDue();
  clock += 30 * 86_400_000 - 1;
  await sendDue();
  expect(await stored()).toHaveLength(1);
  clock += 3_600_001;
  await sendDue();
  expect(await stored()).toEqual([]);
});
