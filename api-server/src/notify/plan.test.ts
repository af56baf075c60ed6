import { createCompute } from '@signalbox/crds/process/compute';
import { describe, expect, test } from 'vitest';
import { createTemplates } from '../runs/prompt/templates.ts';
import { createDailyBytes } from '../runs/state/daily-bytes.ts';
import { plainText } from './fit.ts';
import { AT, pipelineOf, RUN_ID, runOf, STEP } from './fixtures/run.ts';
import { planApproval, type PlanDeps, planRunEnd } from './plan.ts';

const deps = (change: Partial<PlanDeps> = {}): PlanDeps => ({
  templates: createTemplates({ sandbox: true, compute: createCompute({ timeoutMs: 1000 }) }),
  mask: (text) => text.replaceAll('hunter22', '***'),
  publicUrl: 'https://signalbox.example',
  routeOf: () => null,
  hears: () => false,
  dailyBytes: () => null,
  ...change,
});

const told = (notifications: object) => pipelineOf({ notifications });
const slack = (template?: string) => [{ channel: 'slack', ...(template === undefined ? {} : { template }) }];
const GATE = {
  step: 'look',
  message: 'Not passed: trust 0.41 against 0.75, set by the verifier; the run is escalated.',
};

test('an escalation says what, where, why, and links to the page of the run', () => {
  const run = runOf({ pipeline: told({ escalate: slack() }) });
  const { notifications } = planRunEnd(deps(), run, { status: 'escalated', error: GATE, at: AT });
  expect(notifications).toHaveLength(1);
  const [notification] = notifications;
  expect(notification).toMatchObject({
    id: `${RUN_ID}/escalate/0`,
    channel: 'slack',
    insteadOf: null,
    source: { from: 'definition', step: 'look', index: 0 },
  });
  expect(plainText(notification!.message)).toBe(
    'Escalated: checkout\nCheckout is slow\nNot passed: trust 0.41 against 0.75, set by the verifier; the run is escalated.\ncritical · team payments · step look',
  );
  expect(notification!.message.link).toBe(`https://signalbox.example/ui/runs/${RUN_ID}`);
});

test.each([
  ['completed', 'complete', 'Completed: checkout', 'Trust 0.82 against 0.75.'],
  ['stopped', 'stop', 'Stopped: checkout', 'why'],
  ['escalated', 'escalate', 'Escalated: checkout', 'why'],
  ['aborted', 'abort', 'Aborted: checkout', 'why'],
  ['failed', 'fail', 'Failed: checkout', 'why'],
] as const)('a run that %s tells %s in its default words', (status, event, headline, reason) => {
  const run = runOf({ pipeline: told({ [event]: slack() }), completed: ['look'] });
  const error = status === 'completed' ? null : { step: 'look', message: 'why' };
  const { notifications } = planRunEnd(deps(), run, { status, error, at: AT });
  const lines = plainText(notifications[0]!.message).split('\n');
  expect(lines.slice(0, 3)).toEqual([headline, 'Checkout is slow', reason]);
});

test('a summary writes no line that reads like ours', () => {
  const summary = 'Busy\n\nApproved by slack:U1\u2028Completed: checkout';
  const run = runOf({ pipeline: told({ fail: slack() }), summary });
  const { notifications } = planRunEnd(deps(), run, { status: 'failed', error: GATE, at: AT });
  const [, said] = plainText(notifications[0]!.message).split('\n');
  expect(said).toBe('Busy Approved by slack:U1 Completed: checkout');
});

test('a severity and a reason write no line that reads like ours', () => {
  const run = runOf({ pipeline: told({ fail: slack() }) });
  const hostile = { ...run, context: { ...run.context, severity: 'critical\nApproved by slack:U1' } };
  const error = { ...GATE, message: 'the answer does not fit its schema: a\n\nResolved by slack:U1' };
  const { notifications } = planRunEnd(deps(), hostile, { status: 'failed', error, at: AT });
  expect(plainText(notifications[0]!.message).split('\n').slice(2)).toEqual([
    'the answer does not fit its schema: a Resolved by slack:U1',
    'critical Approved by slack:U1 · team payments · step look',
  ]);
});

test('a cancelled run and a pipeline without messages are silent', () => {
  const all = told({ escalate: slack(), abort: slack(), stop: slack(), fail: slack(), complete: slack() });
  expect(
    planRunEnd(deps(), runOf({ pipeline: all }), { status: 'cancelled', error: GATE, at: AT }).notifications,
  ).toEqual([]);
  expect(planRunEnd(deps(), runOf(), { status: 'failed', error: GATE, at: AT }).notifications).toEqual([]);
});

test('no link without server.public_url', () => {
  const run = runOf({ pipeline: told({ fail: slack() }) });
  const [notification] = planRunEnd(deps({ publicUrl: null }), run, {
    status: 'failed',
    error: GATE,
    at: AT,
  }).notifications;
  expect(notification!.message).toMatchObject({ link: null, url: null });
});

test('the messages of a completed run are those of the step that completed last', () => {
  const steps = [
    { name: 'one', ...STEP, notifications: { complete: slack('one') } },
    { name: 'two', ...STEP, notifications: { complete: slack('two') } },
  ];
  const run = runOf({
    pipeline: pipelineOf({ steps, notifications: { complete: slack('all') } }),
    completed: ['one', 'two'],
  });
  const { notifications } = planRunEnd(deps(), run, { status: 'completed', error: null, at: AT });
  expect(notifications.map(({ message }) => plainText(message))).toEqual(['two']);
});

test('a template sees the run’s values and how it ended, and values stay apart from the author’s words', () => {
  const template =
    '*{{pipeline_name}}* {{labels.service}} {{run.status}} at {{run.step}}: {{run.reason}} {{run.url}}{{status}}';
  const run = runOf({ pipeline: told({ escalate: slack(template) }), metadata: { status: 'firing' } });
  const { notifications, notes } = planRunEnd(deps(), run, {
    status: 'escalated',
    error: { step: 'look', message: 'low' },
    at: AT,
  });
  const { text, link } = notifications[0]!.message;
  expect(plainText({ text })).toBe(
    `*checkout* checkout escalated at look: low https://signalbox.example/ui/runs/${RUN_ID}firing`,
  );
  expect(text.slice(0, 3)).toEqual([
    { kind: 'author', text: '*' },
    { kind: 'value', text: 'checkout' },
    { kind: 'author', text: '* ' },
  ]);
  expect(link).toBeNull();
  expect(notes).toEqual([]);
});

test('a value is never rendered as a template again', () => {
  const run = runOf({
    pipeline: told({ escalate: slack('{{summary}}') }),
    summary: '{{run.id}} {{#each steps}}x{{/each}}',
  });
  const { notifications } = planRunEnd(deps(), run, { status: 'escalated', error: GATE, at: AT });
  expect(plainText(notifications[0]!.message)).toBe('{{run.id}} {{#each steps}}x{{/each}}');
});

test('a template that cannot be rendered falls back to our words and says so; a missing value is said too', () => {
  const endless = '{{#each vars.many}}{{#each ../vars.many}}{{#each ../../vars.many}}x{{/each}}{{/each}}{{/each}}';
  const pipeline = pipelineOf({
    vars: { many: Array.from({ length: 100 }, (_, index) => index) },
    notifications: { fail: [...slack(endless), ...slack('{{nothing}}!')] },
  });
  const { notifications, notes } = planRunEnd(deps(), runOf({ pipeline }), { status: 'failed', error: GATE, at: AT });
  expect(notifications.map(({ message }) => plainText(message).slice(0, 16))).toEqual(['Failed: checkout', '!']);
  expect(notes.map(({ event }) => event)).toEqual(['notification_template_failed', 'template_missing_value']);
});

describe('messages of a namespace count towards its day, whichever text they have', () => {
  const room = (pipeline: ReturnType<typeof pipelineOf>, most: number) => {
    const run = { ...runOf({ pipeline, summary: 'x'.repeat(1_000) }), namespace: 'shop' };
    const limited = deps({ dailyBytes: createDailyBytes(() => most, Date.now) });
    const end = { status: 'failed', error: GATE, at: AT } as const;
    const planned = planRunEnd(limited, run, end);
    return {
      texts: planned.notifications.map(({ message }) => plainText(message).slice(0, 6)),
      notes: planned.notes.map(({ event, msg }) => `${event}: ${msg}`),
    };
  };
  const LIMIT = '(daily_bytes of tenancy.namespaces)';

  test('one whose template has no room has its default form, and a further one without room is left out', () => {
    const pipeline = told({ fail: [slack('{{summary}}{{summary}}'), slack(), slack(), slack('{{nothing}}')].flat() });
    const { texts, notes } = room(pipeline, 3_000);
    expect(texts).toEqual(['Failed']);
    expect(notes).toEqual([
      expect.stringMatching(/^notification_template_failed: the slack message for fail was sent in its default form:/),
      expect.stringMatching(
        /^notification_left_out: 3 further messages for fail were not sent: the definitions, prompts/,
      ),
    ]);
    for (const note of notes) expect(note).toContain(LIMIT);
  });

  test('they are all sent while there is room', () => {
    const { texts, notes } = room(told({ fail: [...slack('{{summary}}'), ...slack()] }), 10_000);
    expect(texts).toEqual(['xxxxxx', 'Failed']);
    expect(notes).toEqual([]);
  });

  test('the first one and every reminder are sent without room', () => {
    const escalate = [...slack(), ...slack()];
    const pipeline = pipelineOf({
      attention: { remind_after_seconds: 600 },
      notifications: { fail: escalate, escalate },
    });
    expect(room(pipeline, 0).texts).toEqual(['Failed', 'Not ac', 'Not ac']);
  });
});

test('secrets of the operator are masked, also where they would be cut', () => {
  const summary = `${'x'.repeat(995)}hunter22`;
  const run = runOf({ pipeline: told({ fail: [...slack(), ...slack('{{summary}}')] }), summary });
  const { notifications } = planRunEnd(deps(), run, { status: 'failed', error: GATE, at: AT });
  expect(JSON.stringify(notifications)).not.toMatch(/hun/);
});

test('a huge text is cut', () => {
  const run = runOf({ pipeline: told({ fail: [...slack(), ...slack('{{summary}}')] }), summary: '😀'.repeat(100_000) });
  const { notifications } = planRunEnd(deps(), run, { status: 'failed', error: GATE, at: AT });
  for (const { message } of notifications) expect(JSON.stringify(message).length).toBeLessThan(60_000);
  expect(plainText(notifications[1]!.message).isWellFormed()).toBe(true);
});

test('a testing pipeline’s messages go to the log, and say where they would have gone', () => {
  const pipeline = pipelineOf({
    stage: 'testing',
    notifications: { fail: [{ channel: 'email' }, { channel: 'log' }] },
  });
  const { notifications } = planRunEnd(deps(), runOf({ pipeline }), { status: 'failed', error: GATE, at: AT });
  expect(notifications.map(({ channel, insteadOf }) => [channel, insteadOf])).toEqual([
    ['log', 'email'],
    ['log', null],
  ]);
});

const QUESTION = { id: 'approve', step: 'look', prompt: 'Restart?', askedAt: AT, path: '/ui/approvals/7', buttons: [] };

test('an approval goes to whom its step names, else the pipeline, else the team’s route, else the log', () => {
  const ask = (body: object, team: string | null = 'payments') =>
    planApproval(
      deps({ routeOf: (name) => (name === 'payments' ? { team: name, channel: 'telegram' } : null) }),
      runOf({ pipeline: pipelineOf(body as Record<string, unknown>), team }),
      QUESTION,
    ).notifications.map(({ channel, source }) => [channel, source.from]);
  const step = { steps: [{ name: 'look', ...STEP, notifications: { approval: [{ channel: 'email' }] } }] };
  const all = { notifications: { approval: slack() } };
  expect(ask({ ...step, ...all })).toEqual([['email', 'definition']]);
  expect(ask(all)).toEqual([['slack', 'definition']]);
  expect(ask({})).toEqual([['telegram', 'route']]);
  expect(ask({}, 'other')).toEqual([['log', 'operator']]);
  expect(ask({ stage: 'testing' })).toEqual([['log', 'route']]);
});

test('a question carries its prompt, its page and its buttons, and asks once however often it is planned', () => {
  const buttons = [{ label: 'Approve', value: 'approve:7', style: 'primary' as const }];
  const plan = () => planApproval(deps(), runOf(), { ...QUESTION, buttons }).notifications[0]!;
  expect(plan().id).toBe(`${RUN_ID}/approval/approve/0`);
  expect(plan()).toEqual(plan());
  expect(plan().message).toMatchObject({
    status: null,
    reason: 'Restart?',
    url: 'https://signalbox.example/ui/approvals/7',
    buttons,
  });
});

describe('a chat offers Approve only where it shows the whole input', () => {
  const buttons = [
    { label: 'Approve', value: 'approve:7', style: 'primary' as const },
    { label: 'Reject', value: 'reject:7', style: 'danger' as const },
  ];
  const messageOf = (channel: 'slack' | 'telegram', input: string) => {
    const routed = deps({ routeOf: () => ({ team: 'payments', channel }) });
    const call = `shell/run?\n${input}`;
    const request = { ...QUESTION, prompt: `May fixer call ${call}`, call, buttons };
    return planApproval(routed, runOf(), request).notifications[0]!.message;
  };

  test.each(['slack', 'telegram'] as const)('%s: a short one has both buttons', (channel) => {
    expect(messageOf(channel, '{"command":"echo a && b","dry_run":true}').buttons).toEqual(buttons);
  });

  test('a message of an author that does not name the tool, or may hide its input, has no Approve button', () => {
    const call = 'shell/run?\n{}';
    const offered = (template: string, channel: 'slack' | 'telegram' = 'slack') => {
      const run = runOf({ pipeline: told({ approval: [{ channel, template }] }) });
      const request = { ...QUESTION, prompt: `May fixer call ${call}`, call, buttons };
      return planApproval(deps(), run, request).notifications[0]!.message.buttons.map(({ label }) => label);
    };
    expect(offered('A harmless check: {}')).toEqual(['Reject']);
    expect(offered('Please look. {{run.reason}}')).toEqual(['Approve', 'Reject']);
    expect(offered('Please look. {{run.reason}}', 'telegram')).toEqual(['Approve', 'Reject']);
    expect(offered('Please look. <tg-spoiler>{{run.reason}}</tg-spoiler>', 'telegram')).toEqual(['Reject']);
    expect(offered('Please look. <https://a.example|{{run.reason}}>')).toEqual(['Reject']);
  });

  test.each([
    ['slack', 'is cut', `{"command":"echo ${'a'.repeat(2_400)}; rm -rf /"}`],
    ['telegram', 'is cut', `{"command":"echo ${'a'.repeat(2_400)}; rm -rf /"}`],
    ['slack', 'grows beyond the limit by its escapes', `{"command":"${'&'.repeat(1_000)}; rm -rf /"}`],
    ['slack', 'has signs that the chat takes for bold text', '{"command":"rm -rf *old*"}'],
    ['slack', 'has signs that the chat takes for italic text', '{"command":"rm -rf _old_"}'],
    ['slack', 'has signs that the chat takes for code', '{"command":"echo `id`"}'],
    ['slack', 'has the name of a sign that the chat shows in its place', '{"replicas":":one::zero:"}'],
    ['slack', 'has characters that the chat leaves out', '{"command":"echo \u007f"}'],
  ] as const)('%s: one that %s has a link and the reason instead', (channel, _, input) => {
    const { buttons: offered, link, text } = messageOf(channel, input);
    expect(offered.map(({ label }) => label)).toEqual(['Reject']);
    expect(link).toContain('/ui/approvals/7');
    expect(text[0]?.text).toContain('Approve on the page');
  });
});

test('a run that needs people is acted on from a channel whose buttons are heard, and from no other', () => {
  const pipeline = told({ escalate: [...slack(), { channel: 'telegram' }], complete: slack() });
  const hears = (channel: string) => channel === 'slack';
  const labels = (change: Partial<ReturnType<typeof runOf>>, status: 'escalated' | 'completed') =>
    planRunEnd(
      deps({ hears }),
      { ...runOf({ pipeline }), ...change },
      { status, error: GATE, at: AT },
    ).notifications.map(({ message }) => message.buttons.map(({ label }) => label));
  expect(labels({}, 'escalated')).toEqual([['Acknowledge', 'Resolve', 'False alarm'], []]);
  expect(labels({}, 'completed')).toEqual([[]]);
  expect(labels({ stage: 'testing' }, 'escalated')).toEqual([[], []]);
  expect(labels({ parent: runOf() }, 'escalated')).toEqual([[], []]);
});

describe('reminders', () => {
  const reminding = (more: object = {}) =>
    pipelineOf({
      attention: { remind_after_seconds: 600 },
      notifications: { escalate: [...slack(), { channel: 'log', template: 'Look at {{pipeline_name}}' }] },
      ...more,
    });
  const ended = (run: ReturnType<typeof runOf>, status: 'escalated' | 'failed' | 'completed') =>
    planRunEnd(deps(), run, { status, error: GATE, at: AT }).notifications.filter(({ id }) => id.includes('remind'));

  test('a run that needs people reminds through its escalate channels after the time that its pipeline names', () => {
    for (const status of ['escalated', 'failed'] as const) {
      const [first, second] = ended(runOf({ pipeline: reminding() }), status);
      expect(first).toMatchObject({
        id: `${RUN_ID}/remind/1/0`,
        event: 'remind',
        channel: 'slack',
        createdAt: AT + 600_000,
        message: { repeatMs: 600_000 },
      });
      expect(plainText(first!.message)).toMatch(/^Not acknowledged yet: checkout\nCheckout is slow\n/);
      expect(plainText(second!.message)).toBe('Not acknowledged yet: checkout\nLook at checkout');
    }
  });

  test('what needs nobody reminds nobody', () => {
    const pipeline = reminding();
    const silent = [
      ended(runOf({ pipeline }), 'completed'),
      ended(runOf({ pipeline, stage: 'testing' }), 'escalated'),
      ended({ ...runOf({ pipeline }), parent: runOf() }, 'escalated'),
      ended(runOf({ pipeline: reminding({ attention: undefined }) }), 'escalated'),
    ];
    expect(silent.map(({ length }) => length)).toEqual([0, 0, 0, 0]);
  });
});
