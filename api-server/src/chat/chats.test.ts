import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';
import { type Approvals, createApprovals } from '../service/approvals/approvals.ts';
import type { Approval } from '../runs/human/approval.ts';
import { NotificationsBlock } from '../config/notifications-schema.ts';
import { httpExecutor } from '../executors/http.ts';
import { NOW, openTestStore, runIdOf, type TestStore } from '../web/fixtures/store.ts';
import type { Message } from '../notify/message.ts';
import { insertApproval } from '../store/tables/approvals.ts';
import { attentionButtons } from '../notify/attention-buttons.ts';
import { createEscalations, type Escalations } from '../service/attention/attention.ts';
import { attendBy } from '../service/attention/press.ts';
import { createChats } from './chats.ts';
import { outcomeOfApproval, outcomeOfRun } from './outcomes.ts';
import type { SentMessage } from './close-messages.ts';
import { APP_TOKEN, fakeSlack, type FakeSlack, SLACK_CHANNEL } from './fixtures/fake-slack.ts';
import { ANYBODY } from '../service/approvals/anybody.fixture.ts';
import { BOT_TOKEN, CHAT, fakeTelegram, type FakeTelegram } from './fixtures/fake-telegram.ts';

const ID = '00000000-0000-7000-8000-000000000001';
let store: TestStore;
let approvals: Approvals;
let escalations: Escalations;
let telegram: FakeTelegram;
let slack: FakeSlack;

beforeEach(async () => {
  [store, telegram, slack] = await Promise.all([openTestStore(), fakeTelegram(), fakeSlack()]);
  await store.addRun(1, { status: 'running' });
  escalations = createEscalations({ database: store.database, now: () => NOW });
  approvals = createApprovals({ database: store.database, rules: ANYBODY, announce: () => [], now: () => NOW });
});
afterEach(() => Promise.all([store.close(), telegram.close(), slack.close()]));

async function ask(more: Partial<Approval> = {}): Promise<void> {
  const approval: Approval = {
    id: ID,
    runId: runIdOf(1),
    stepName: 'approve',
    kind: 'step',
    pipelineName: 'checkout',
    team: 'payments',
    stage: 'production',
    question: 'Restart?',
    fields: [],
    tool: null,
    status: 'pending',
    requestedAt: NOW,
    expiresAt: NOW + 60_000,
    decidedAt: null,
    decidedBy: null,
    comment: null,
    answers: null,
    required: 1,
    notTheStarter: false,
    votes: [],
    ...more,
  };
  await store.database.write((tx) => insertApproval(tx, approval));
}

const MESSAGE: Omit<Message, 'text'> = {
  event: 'approval',
  at: new Date(NOW).toISOString(),
  pipeline: 'checkout',
  runId: runIdOf(1),
  status: null,
  team: 'payments',
  stage: 'production',
  severity: null,
  summary: 'slow <b>',
  step: 'approve',
  reason: null,
  trust: null,
  threshold: null,
  url: null,
  link: null,
  buttons: [{ label: 'Approve', value: `approve:${ID}`, style: 'primary' }],
};
const sent = (channel: string, receipt: Record<string, string>): SentMessage => ({
  channel,
  status: 'sent',
  source: { from: 'operator' },
  message: { ...MESSAGE, text: [{ kind: 'value', text: 'Restart <b>?' }] },
  receipt,
});

const RUN = runIdOf(2);
const escalate = () => store.addRun(2, { status: 'escalated' });
const attention = async () => {
  const [row] = await store.database.db.selectFrom('attention').selectAll().where('run_id', '=', RUN).execute();
  return [row?.state, row?.assignee, row?.resolution];
};

/** Every button about an id, in both chats, on their way yet. */
const everyButton = (id: string): SentMessage[] =>
  ['slack', 'telegram'].map((channel) => ({
    ...sent(channel, {}),
    status: 'pending',
    receipt: null,
    message: { ...sent(channel, {}).message, buttons: [...decisionButtons(id), ...attentionButtons(id, 'open')] },
  }));
const decisionButtons = (id: string): Message['buttons'] =>
  ['approve', 'reject'].map((word) => ({ label: word, value: `${word}:${id}`, style: 'plain' }));

interface Sent {
  ofApproval(id: string): SentMessage[];
  ofRun(id: string): SentMessage[];
  /** The chat to which messages are on their way; the configured ones where absent. */
  room?: string | null;
}

function begin(
  messages: SentMessage[] = [],
  rules = ANYBODY,
  offered: Sent = { ofApproval: everyButton, ofRun: everyButton },
) {
  const warnings: string[] = [];
  const settings = NotificationsBlock.parse({
    telegram: { bot_token: BOT_TOKEN, chat_id: CHAT, api_url: telegram.url },
    slack: { bot_token: 'xoxb-1', app_token: APP_TOKEN, channel: `#${SLACK_CHANNEL.name}`, api_url: slack.url },
  });
  const chats = createChats({
    settings,
    http: httpExecutor(['0.0.0.0/0']),
    decide: approvals.decide,
    attend: attendBy({ escalations, rules, teamOf: async () => 'payments' }),
    messages: { ofApproval: async (id) => offered.ofApproval(id), ofRun: async (id) => offered.ofRun(id) },
    roomOf: async ({ channel }) =>
      offered.room === undefined ? (channel === 'slack' ? `#${SLACK_CHANNEL.name}` : String(CHAT)) : offered.room,
    onOutcome: (listener) => {
      approvals.onClosed((approval) => listener(outcomeOfApproval(approval, async () => messages)));
      escalations.onChanged((changed) => listener(outcomeOfRun(changed, async () => messages)));
    },
    delay: (_, signal) => new Promise((resolve) => (signal.aborted ? resolve(undefined) : setImmediate(resolve))),
    warn: (message) => void warnings.push(message),
  });
  chats.hear(true);
  onTestFinished(() => chats.stop());
  return { warnings, chats };
}

const soon = <T>(look: () => T) => expect.poll(look);
const status = async () => (await approvals.find(ID))?.status;
const becomes = (word: string) => soon(status).toBe(word);
const answersOf = (method: string) => telegram.calls.filter((call) => call.method === method).map(({ body }) => body);
const saidBySlack = () =>
  slack.calls.filter(({ path }) => path.startsWith('/actions/')).map(({ body }) => body['text']);
const auditRows = () => store.database.db.selectFrom('audit').selectAll().execute();
const connected = (count = 1) => soon(slack.connections).toBe(count);

test('a button in Telegram decides, is answered, and is audited by platform and user', async () => {
  await ask();
  begin();
  telegram.press(`approve:${ID}`);
  await becomes('approved');
  await soon(() => answersOf('answerCallbackQuery')).toEqual([
    { callback_query_id: '4382bfdwdsb323b2d9', text: 'Approved.' },
  ]);
  expect(await auditRows()).toMatchObject([
    { actor: 'telegram:77', actor_kind: 'chat', role: null, action: 'approve' },
  ]);
  expect(answersOf('getUpdates')[0]).toMatchObject({ allowed_updates: ['callback_query'] });
});

test('a button in Slack decides, is acknowledged, and is audited by platform and user', async () => {
  await ask();
  begin();
  await connected();
  const envelope = slack.press(`reject:${ID}`);
  await becomes('rejected');
  await soon(() => slack.acks).toEqual([envelope]);
  await soon(saidBySlack).toEqual(['Rejected.']);
  expect(await auditRows()).toMatchObject([
    { actor: 'slack:U0ADA', actor_kind: 'chat', action: 'reject', outcome: 'rejected' },
  ]);
});

test('where two persons have to approve, one in two chats is one, and a stranger is none', async () => {
  const approvers = new Map([['default', [['slack:U0ADA', 'telegram:77'], ['slack:U0BEA']]]]);
  const rules = { approvers, required: 2, notTheStarter: false };
  approvals = createApprovals({ database: store.database, rules, announce: () => [], now: () => NOW });
  await ask({ required: 2 });
  begin();
  await connected();
  const press = async (user: string, answer: string) => {
    slack.press(`approve:${ID}`, { user });
    await soon(() => saidBySlack().at(-1)).toBe(answer);
  };
  await press('U0EVE', 'Not decided: slack:U0EVE is not an approver of team payments.');
  await press('U0ADA', 'Approved. Another person has to approve too.');
  telegram.press(`approve:${ID}`);
  await soon(() => answersOf('answerCallbackQuery').at(-1)?.['text']).toBe(
    'Not decided: telegram:77 approved already; another person has to approve too.',
  );
  expect(await status()).toBe('pending');
  await press('U0BEA', 'Approved.');
  expect(await approvals.find(ID)).toMatchObject({ status: 'approved', decidedBy: 'slack:U0ADA, slack:U0BEA' });
  expect((await auditRows()).map(({ actor, outcome }) => [actor, outcome])).toEqual([
    ['slack:U0ADA', 'approved, 1 of 2'],
    ['slack:U0BEA', 'approved'],
  ]);
});

test('a press that comes twice, or after somebody else, changes nothing and is told who was first', async () => {
  await ask();
  begin();
  await connected();
  telegram.press(`approve:${ID}`);
  await becomes('approved');
  telegram.again();
  await soon(() => answersOf('answerCallbackQuery').at(-1)?.['text']).toBe(
    'Too late: already approved by telegram:77.',
  );
  slack.press(`reject:${ID}`);
  await soon(saidBySlack).toEqual(['Too late: already approved by telegram:77.']);
  expect(await auditRows()).toHaveLength(1);
});

test('other chats and channels are not heard', async () => {
  await ask();
  begin();
  await connected();
  telegram.press(`approve:${ID}`, { chat: -5 });
  slack.press(`approve:${ID}`, { channel: { id: 'C999', name: 'random' } });
  await soon(() => answersOf('answerCallbackQuery').at(-1)?.['text']).toBe('Nothing is decided from this chat.');
  await soon(saidBySlack).toEqual(['Nothing is decided from this channel.']);
  expect(await status()).toBe('pending');
});

test.each([
  ['of a message without it, as one that does not show all of a call', `reject:${ID}`, String(CHAT)],
  ['of a message in another chat', `approve:${ID}`, '-5'],
  ['of a message that the bot of an author sent', `approve:${ID}`, null],
])('a button %s is not heard', async (_, value, chat) => {
  await ask();
  await escalate();
  const message = { ...sent('telegram', {}), receipt: chat === null ? null : { chat_id: chat, message_id: '42' } };
  const buttons = [...decisionButtons(ID), ...attentionButtons(RUN, 'open')];
  const offered = [
    { ...message, message: { ...message.message, buttons: buttons.filter((one) => one.value === value) } },
  ];
  begin([], ANYBODY, { ofApproval: () => offered, ofRun: () => offered });
  for (const pressed of [`approve:${ID}`, `acknowledge:${RUN}`]) {
    telegram.press(pressed);
    await soon(() => answersOf('answerCallbackQuery').at(-1)?.['text']).toBe(
      'This button is not offered here; act on the page of the run.',
    );
    telegram.calls.length = 0;
  }
  expect([await status(), await attention(), await auditRows()]).toEqual(['pending', ['open', null, null], []]);
});

test.each([['-5'], [null]])('a button of a message that is on its way to %s is heard nowhere else', async (room) => {
  await ask();
  begin([], ANYBODY, { ofApproval: everyButton, ofRun: everyButton, room });
  telegram.press(`approve:${ID}`);
  await soon(() => answersOf('answerCallbackQuery').at(-1)?.['text']).toContain('not offered here');
  expect([await status(), await auditRows()]).toEqual(['pending', []]);
});

test.each([
  '',
  'approve',
  'approve:1',
  `approve:${ID}x`,
  `delete:${ID}`,
  `approve:${ID.replace('1', '2')}`,
  "approve:' OR 1=1",
])('an unknown button changes nothing: %s', async (value) => {
  await ask();
  begin();
  await connected();
  telegram.press(value);
  slack.press(value);
  await soon(() => answersOf('answerCallbackQuery').at(-1)?.['text']).toContain('not known here');
  await soon(() => saidBySlack().at(-1)).toContain('not known here');
  expect([await status(), await auditRows()]).toEqual(['pending', []]);
});

test('an approval that needs more than a button is sent to the page', async () => {
  await ask({ fields: [{ name: 'why', type: 'string', required: true }] });
  begin();
  telegram.press(`approve:${ID}`);
  await soon(() => answersOf('answerCallbackQuery').at(-1)?.['text']).toContain('fill in the form');
  expect(await status()).toBe('pending');
});

test('both are heard again after refusals, refreshes and lost connections', async () => {
  await ask();
  telegram.refuseOnce(409, {
    ok: false,
    error_code: 409,
    description: 'Conflict: terminated by other getUpdates request',
  });
  telegram.refuseOnce(502, {});
  const { warnings } = begin();
  await connected(1);
  slack.refresh();
  await connected(2);
  slack.cut();
  await connected(3);
  slack.press(`approve:${ID}`);
  await becomes('approved');
  telegram.press(`approve:${ID}`);
  await soon(() => answersOf('answerCallbackQuery').at(-1)?.['text']).toContain('already approved by slack:U0ADA');
  expect(warnings.join(' ')).toContain('Conflict');
  expect(warnings.join(' ')).not.toContain(BOT_TOKEN);
});

test('what is no envelope of Slack is let pass', async () => {
  await ask();
  begin();
  await connected();
  for (const text of [
    '',
    'null',
    '[]',
    '{"type":1}',
    '{"type":"interactive","envelope_id":"e1","payload":null}',
    '{"envelope_id":"e2","type":"slash_commands","payload":{}}',
  ])
    slack.send(text);
  slack.press(`approve:${ID}`);
  await becomes('approved');
  await soon(() => slack.acks.slice(0, 2)).toEqual(['e1', 'e2']);
});

test('whoever decides, the buttons of the messages that asked go away and the outcome stands in their place', async () => {
  await ask();
  begin([
    sent('telegram', { chat_id: String(CHAT), message_id: '42' }),
    sent('slack', { channel: SLACK_CHANNEL.id, ts: '1.2' }),
    sent('email', {}),
  ]);
  const by = { name: 'ada', kind: 'token', role: 'operator', requestId: null } as const;
  await approvals.decide(ID, { verdict: { decision: 'approve', fields: {}, comment: 'fine' }, by });
  await soon(() => answersOf('editMessageText')).toMatchObject([
    {
      chat_id: String(CHAT),
      message_id: 42,
      text: 'Restart &lt;b&gt;?\n\nApproved by ada: fine',
      parse_mode: 'HTML',
    },
  ]);
  expect(answersOf('editMessageText')[0]).not.toHaveProperty('reply_markup');
  await soon(() => slack.calls.find(({ path }) => path === '/chat.update')?.body).toMatchObject({
    channel: SLACK_CHANNEL.id,
    ts: '1.2',
    blocks: [{ type: 'section', text: { text: 'Restart &lt;b&gt;?\n\nApproved by ada: fine' } }],
  });
});

const escalation = (channel: string, receipt: Record<string, string>): SentMessage => {
  const one = sent(channel, receipt);
  return { ...one, message: { ...one.message, event: 'escalate', buttons: attentionButtons(RUN, 'open') } };
};

test('a button acknowledges a run, is answered, and is audited by platform and user', async () => {
  await escalate();
  begin();
  await connected();
  slack.press(`acknowledge:${RUN}`);
  await soon(saidBySlack).toEqual(['Acknowledged, assigned to you.']);
  expect(await attention()).toEqual(['acknowledged', 'slack:U0ADA', null]);
  expect(await auditRows()).toMatchObject([
    { actor: 'slack:U0ADA', actor_kind: 'chat', role: null, action: 'acknowledge', run_id: RUN },
  ]);
  telegram.press(`false_alarm:${RUN}`);
  await soon(() => answersOf('answerCallbackQuery').at(-1)?.['text']).toBe('Resolved as a false alarm.');
  expect(await attention()).toEqual(['resolved', 'slack:U0ADA', 'false_alarm']);
  slack.press(`resolve:${RUN}`);
  await soon(() => saidBySlack().at(-1)).toBe('Not changed: the run is resolved already, by telegram:77.');
});

test('where approvers are named, only those of the team act on its runs from a chat, and another member is told so', async () => {
  await escalate();
  const approvers = new Map([
    ['default', [['slack:U0EVE'], ['telegram:77']]],
    ['payments', [['ada', 'slack:U0ADA']]],
  ]);
  begin([], { ...ANYBODY, approvers });
  await connected();
  const refused = (name: string) =>
    `Not changed: ${name} is not an approver of team payments. An operator can act on the page of the run.`;
  slack.press(`acknowledge:${RUN}`, { user: 'U0EVE' });
  await soon(saidBySlack).toEqual([refused('slack:U0EVE')]);
  telegram.press(`resolve:${RUN}`);
  await soon(() => answersOf('answerCallbackQuery').at(-1)?.['text']).toBe(refused('telegram:77'));
  expect([await attention(), await auditRows()]).toEqual([['open', null, null], []]);
  slack.press(`acknowledge:${RUN}`);
  await soon(() => saidBySlack().at(-1)).toBe('Acknowledged, assigned to you.');
  expect(await auditRows()).toMatchObject([{ actor: 'slack:U0ADA', actor_kind: 'chat', action: 'acknowledge' }]);
});

test('whoever acts on a run, its messages say so and keep the buttons for what can be done next', async () => {
  await escalate();
  begin([
    escalation('telegram', { chat_id: String(CHAT), message_id: '42' }),
    escalation('slack', { channel: SLACK_CHANNEL.id, ts: '1.2' }),
  ]);
  const by = { name: 'ada', kind: 'token', role: 'operator', requestId: null } as const;
  await escalations.acknowledge(RUN, { note: 'on it' }, by);
  const edits = () => slack.calls.filter(({ path }) => path === '/chat.update').map(({ body }) => JSON.stringify(body));
  await soon(() => edits().length).toBe(1);
  expect(edits()[0]).toContain('Acknowledged by ada: on it');
  expect(edits()[0]).toContain(`resolve:${RUN}`);
  expect(edits()[0]).not.toContain(`acknowledge:${RUN}`);
  await soon(() => answersOf('editMessageText')).toMatchObject([
    { reply_markup: { inline_keyboard: [[{ text: 'Resolve' }, { text: 'False alarm' }]] } },
  ]);
  await escalations.resolve(RUN, { resolution: 'handled', note: null }, by);
  await soon(() => edits().length).toBe(2);
  expect(edits()[1]).not.toContain(`resolve:${RUN}`);
});

test('from another channel, and for a run that needs nobody, a button changes nothing', async () => {
  await escalate();
  begin();
  await connected();
  slack.press(`resolve:${RUN}`, { channel: { id: 'C999', name: 'random' } });
  await soon(saidBySlack).toEqual(['Nothing is decided from this channel.']);
  slack.press(`resolve:${runIdOf(1)}`);
  await soon(() => saidBySlack().at(-1)).toMatch(/^Not changed: the run needs nobody/);
  slack.press(`resolve:${runIdOf(9)}`);
  await soon(() => saidBySlack().at(-1)).toBe('This run is not known here.');
  expect([await attention(), await auditRows()]).toEqual([['open', null, null], []]);
});

test('of several services the one that is told to hears, and stops when it is told so', async () => {
  const { chats } = begin();
  await connected();
  await ask();
  chats.hear(false);
  chats.hear(true);
  await connected(2);
  slack.press(`approve:${ID}`);
  await becomes('approved');
});
