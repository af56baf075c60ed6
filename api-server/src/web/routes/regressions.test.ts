import { resolveSet } from '@signalbox/crds';
import { createCompute } from '@signalbox/crds/process/compute';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { RegressionEntry, ReplayConfig } from '../../config/config.ts';
import { httpExecutor } from '../../executors/http.ts';
import { type FakeChat, fakeReceiver } from '../../notify/fixtures/chats.ts';
import { createNotifications, type Notifications } from '../../notify/notifications.ts';
import { hang, type Script, sure } from '../../runs/fixtures/engine.ts';
import { createTemplates } from '../../runs/prompt/templates.ts';
import { GRACE_MS } from '../../service/regressions/watch.ts';
import { createClock } from '../../schedules/clock.ts';
import { createOutbox } from '../../store/tables/outbox.ts';
import { LOOK, type ReplayServer, startReplayServer } from '../fixtures/replays.ts';

/** The day before the first fire; the schedule asks at two in the morning. */
const EVENING = Date.parse('2026-11-21T22:00:00Z');
const NIGHT = Date.parse('2026-11-22T02:00:00Z');
const DAY_MS = 86_400_000;

/** An agent that sees the pool as long as its prompt names the cluster. */
const investigator: Script = ({ input }) =>
  sure(0.9, { summary: input.includes('in blue') ? 'the pool is exhausted' : 'the network is slow' });
/** Says what a person would say of the two answers. */
const judge: Script = ({ input }) => ({
  verdict: input.includes('the network is slow') ? 'incorrect' : 'correct',
  reason: 'compared the causes',
});

let site: ReplayServer;
let receiver: FakeChat;
let notifications: Notifications;
let lines: { msg: string; fields: Record<string, unknown> }[];

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: EVENING });
  receiver = await fakeReceiver();
  lines = [];
});
afterEach(async () => {
  await notifications?.sender.stop();
  await site.close();
  await receiver.close();
  vi.useRealTimers();
});

interface Options {
  entry?: Partial<RegressionEntry>;
  replay?: Partial<ReplayConfig>;
  agents?: Record<string, Script>;
}

async function start({ entry = {}, replay = {}, agents = {} }: Options = {}) {
  const log = { info: note, warn: note };
  const regressions: RegressionEntry[] = [
    {
      goldenSet: 'triage',
      cron: '0 2 * * *',
      alertOnRegressed: 1,
      alertOnAccuracyDrop: 0.1,
      notify: { channel: 'webhook', config: { url: `${receiver.url}/regressions` } },
      ...entry,
    },
  ];
  site = await startReplayServer({
    agents: { investigator, 'replay-judge': judge, ...agents },
    replay: {
      safeAgents: ['gateway:investigator', 'gateway:replay-judge'],
      judge: { executor: 'gateway', agent: 'replay-judge', timeoutSeconds: 5, maxOutputChars: 4000 },
      ...replay,
    },
    deps: {
      regressing: {
        regressions,
        regressionAlert: (alert) => notifications.regressionAlert(alert),
        sendSoon: () => undefined,
        publicUrl: 'https://signalbox.example/',
        log,
      },
    },
  });
  notifications = createNotifications({
    settings: { routes: {}, give_up_after_seconds: 60 },
    regressions,
    hears: () => false,
    dailyBytes: () => null,
    publicUrl: 'https://signalbox.example/',
    templates: createTemplates({ sandbox: true, compute: createCompute({ timeoutMs: 1000 }) }),
    env: { valueOf: () => undefined, mask: (text) => text },
    http: httpExecutor(['127.0.0.1/32']),
    receiversOf: async () => null,
    authorOf: async ({ pipeline: name }) => ({ name, isTenant: false }),
    guardedHttp: httpExecutor([]),
    outbox: createOutbox(site.world.database),
    log,
    now: Date.now,
  });
}

const note = (fields: object, msg: string) => void lines.push({ msg, fields: fields as Record<string, unknown> });

/** A set with as many pinned answers as alerts are named, all marked as correct. */
async function pinned(...alerts: string[]): Promise<{ set: string; steps: string[]; runs: string[] }> {
  const set = (await site.send('POST', '/golden-sets', { body: { name: 'triage', step_name: 'look' } })).body.id;
  const runs: string[] = [];
  const steps: string[] = [];
  for (const summary of alerts) {
    const { run, step } = await site.record({ summary });
    const body = { run_id: run.id, step_name: 'look' };
    const answer = await site.send('POST', `/golden-sets/${set}/members`, { body });
    if (answer.status !== 201) throw new Error(answer.text);
    runs.push(run.id);
    steps.push(step('look').id);
  }
  return { set, steps, runs };
}

/** A change of the prompt, loaded as a reload would. */
function changePrompt(template: string, stage = 'production'): void {
  const text = LOOK.replace(/prompt_template: .*/, `prompt_template: "${template}"`).replace('production', stage);
  const [pipeline] = resolveSet({
    pipelines: [{ file: 'p.yaml', text }],
    steps: [],
    operator: { allow_shell_checks: true },
  }).pipelines;
  if (!pipeline) throw new Error('the pipeline does not resolve');
  site.world.pipelines.set('checkout', { ...pipeline, match: null });
}

const watch = () => site.services.regressions.watch;
/** The clock moves, and the schedules are looked at. */
async function nightFalls(at = NIGHT): Promise<void> {
  vi.setSystemTime(at + 500);
  await watch().fireDue(at - 1000, at + 500);
}
const history = async (set: string) =>
  (await site.send('GET', `/golden-sets/${set}/regressions`, { role: 'viewer' })).body;
const reportOf = async (id: string) => (await site.send('GET', `/regressions/${id}`, { role: 'viewer' })).body;

/** Looks until the last replay has ended, and sends what is due. */
async function ended(set: string) {
  await vi.waitFor(
    async () => {
      await watch().fireDue(Date.now(), Date.now());
      expect((await history(set)).regressions[0]?.status).not.toBe('running');
    },
    { timeout: 60_000 },
  );
  await sent();
  const { regressions } = await history(set);
  return reportOf(regressions[0].id);
}

async function sent(): Promise<void> {
  await notifications.sender.poll();
  await notifications.sender.settled();
}
const bodies = () => receiver.received.map(({ body }) => body);

test('a prompt that was changed for the worse is caught at night, and its alert arrives', async () => {
  await start();
  const { set, steps, runs } = await pinned('the checkout is slow', 'the cart is slow');
  await nightFalls();
  const before = await ended(set);
  expect(before).toMatchObject({ status: 'completed', n_members: 2, n_regressed: 0, fresh_accuracy: 1, alert: null });
  expect(bodies()).toEqual([]);

  changePrompt('what happened to {{labels.service}}? {{summary}}');
  await nightFalls(NIGHT + DAY_MS);
  const after = await ended(set);
  const row = (member: number) => ({
    step_id: steps[member],
    run_id: runs[member],
    pinned_outcome: 'correct',
    state: 'graded',
    fresh_outcome: 'incorrect',
    fresh_label_source: 'judge',
    change: 'regressed',
    current_outcome: 'correct',
    reason: 'compared the causes',
    candidate_step_name: expect.stringMatching(/^look\/[01]$/),
    candidate_summary: 'the network is slow',
  });
  expect(after).toEqual({
    id: expect.any(String),
    set_id: set,
    fire_at: new Date(NIGHT + DAY_MS).toISOString(),
    status: 'completed',
    run_id: expect.any(String),
    started_at: expect.any(String),
    completed_at: expect.any(String),
    n_members: 2,
    n_graded: 2,
    n_regressed: 2,
    n_improved: 0,
    n_unreplayable: 0,
    n_divergences: 0,
    baseline_accuracy: 1,
    fresh_accuracy: 0,
    alert:
      '2 of 2 members regressed. Accuracy of the 2 graded members fell by 100.0 percentage points, from 100.0% to 0.0%.',
    error: null,
    golden_set: 'triage',
    step_name: 'look',
    label_divergences: [],
    available: true,
    rows: expect.arrayContaining([row(0), row(1)]),
  });
  expect(bodies()).toMatchObject([
    {
      id: `regression/${after.id}`,
      event: 'regression',
      run: { id: after.run_id, status: 'completed' },
      regression: {
        golden_set: 'triage',
        n_regressed: 2,
        n_members: 2,
        fresh_accuracy: 0,
        report_url: `https://signalbox.example/ui/regressions/${after.id}`,
      },
    },
  ]);
  const { run } = await site.world.ended(after.run_id);
  expect(run).toMatchObject({ stage: 'testing', source: 'regression', status: 'completed' });
});

test('every member is asked once on every fire, and a fire is taken once by whatever process looks', async () => {
  await start();
  const { set } = await pinned('one', 'two', 'three');
  const calls = () => site.world.calls.filter(({ agent }) => agent === 'investigator').length;
  const before = calls();
  await Promise.all([nightFalls(), nightFalls(), nightFalls()]);
  await ended(set);
  expect(calls() - before).toBe(3);
  expect((await history(set)).regressions).toHaveLength(1);
  await nightFalls(NIGHT + DAY_MS);
  await ended(set);
  expect(calls() - before).toBe(6);
  await watch().check();
  await nightFalls(NIGHT + DAY_MS);
  expect((await history(set)).regressions).toHaveLength(2);
});

test('the template of the entry has its variables', async () => {
  const template = '{{golden_set}}: {{n_regressed}} of {{n_members}}, {{fresh_accuracy}}, {{report_url}}';
  await start({
    entry: { notify: { channel: 'webhook', template, config: { url: `${receiver.url}/x` } }, alertOnAccuracyDrop: 1 },
  });
  const { set } = await pinned('one');
  changePrompt('{{summary}}');
  await nightFalls();
  const { id } = await ended(set);
  expect(bodies()).toMatchObject([{ text: `triage: 1 of 1, 0.00, https://signalbox.example/ui/regressions/${id}` }]);
});

test('the alert of a pipeline that went back to testing arrives at its channel, and not in the log', async () => {
  await start();
  const { set } = await pinned('one');
  changePrompt('{{summary}}', 'testing');
  await nightFalls();
  await ended(set);
  expect(bodies()).toMatchObject([{ event: 'regression', regression: { n_regressed: 1 } }]);
  expect(lines.map(({ msg }) => msg)).not.toContain('notification');
});

test('without notify the alert is a line of the log, and a judge without any verdict is one', async () => {
  await start({ entry: { notify: null }, agents: { 'replay-judge': () => ({ nonsense: true }) } });
  const { set } = await pinned('one');
  await nightFalls();
  const { alert } = await ended(set);
  expect(alert).toMatch(/^No fresh answer has a label: the judge .* [(]1 of 1 members[)][.]$/);
  expect(lines).toContainEqual(
    expect.objectContaining({ msg: 'notification', fields: expect.objectContaining({ event: 'regression' }) }),
  );
});

test('a member whose execution vanished is unreplayable with its reason; all of them gone is an alert', async () => {
  await start();
  const { set, steps, runs } = await pinned('one', 'two');
  const vanish = (run: string) =>
    site.world.database.write((tx) => tx.db.deleteFrom('runs').where('id', '=', run).execute());
  await vanish(runs[0]!);
  await nightFalls();
  const part = await ended(set);
  expect(part).toMatchObject({ n_members: 2, n_unreplayable: 1, n_regressed: 0, alert: null });
  expect(part.rows).toContainEqual(
    expect.objectContaining({ step_id: steps[0], state: 'unreplayable', reason: 'the recorded execution is gone' }),
  );
  await vanish(runs[1]!);
  await nightFalls(NIGHT + DAY_MS);
  expect(await ended(set)).toMatchObject({ n_unreplayable: 2, alert: 'No member of the set could be replayed.' });
  expect(bodies()).toHaveLength(1);
});

test('pinned labels do not follow later marks; the report names the divergences', async () => {
  await start();
  const { set, runs, steps } = await pinned('one');
  await site.mark(runs[0]!, 'look', 'incorrect');
  await nightFalls();
  expect(await ended(set)).toMatchObject({
    n_divergences: 1,
    baseline_accuracy: 1,
    label_divergences: [{ step_id: steps[0], pinned_outcome: 'correct', current_outcome: 'incorrect' }],
  });
});

test('a person who marks a fresh answer overrides the judge in the report', async () => {
  await start();
  const { set } = await pinned('one');
  changePrompt('{{summary}}');
  await nightFalls();
  const { id, run_id } = await ended(set);
  await site.mark(run_id, 'look/0', 'correct');
  expect(await reportOf(id)).toMatchObject({
    n_regressed: 0,
    fresh_accuracy: 1,
    rows: [{ fresh_label_source: 'human' }],
  });
});

test.each([
  [
    'whose agent is not safe',
    { safeAgents: ['gateway:replay-judge'] },
    'not in replay.safe_agents: gateway:investigator',
  ],
  [
    'whose judge is not safe',
    { safeAgents: ['gateway:investigator'] },
    'not in replay.safe_agents: gateway:replay-judge',
  ],
  ['while nothing may be replayed', { safeAgents: [] }, 'replay is off'],
])('an entry %s is refused before it registers, and calls nobody', async (_, replay, reason) => {
  await start({ replay });
  const { set } = await pinned('one');
  const before = site.world.calls.length;
  await watch().check();
  expect(lines).toMatchObject([{ msg: 'scheduled replay refused', fields: { golden_set: 'triage' } }]);
  expect(lines[0]?.fields['reason']).toContain(reason);
  await nightFalls();
  expect(site.world.calls.length).toBe(before);
  const { schedule, regressions } = await history(set);
  expect(regressions).toEqual([]);
  expect(schedule).toMatchObject({ next_at: null });
  expect(schedule.refused).toContain(reason);
});

test('a set that does not exist, is empty or is archived is refused; restored, it is replayed again', async () => {
  await start();
  const refusal = async () => {
    lines = [];
    await watch().check();
    return lines[0]?.fields['reason'];
  };
  expect(await refusal()).toBe('there is no golden set of this name');
  const { set } = await pinned();
  expect(await refusal()).toBe('the golden set has no members');
  const { run } = await site.record();
  await site.send('POST', `/golden-sets/${set}/members`, { body: { run_id: run.id, step_name: 'look' } });
  expect(await refusal()).toBeUndefined();
  await site.send('POST', `/golden-sets/${set}/archive`);
  expect(await refusal()).toBe('the golden set is archived');
  await nightFalls();
  expect((await history(set)).regressions).toEqual([]);
  await site.send('POST', `/golden-sets/${set}/restore`);
  await nightFalls(NIGHT + DAY_MS);
  expect(await ended(set)).toMatchObject({ status: 'completed' });
});

test('a set that is archived while it is replayed comes to its report, and is not replayed again', async () => {
  const asked = Promise.withResolvers<void>();
  const goOn = Promise.withResolvers<void>();
  let held = false;
  const slow: Script = async (call) => {
    if (held) {
      asked.resolve();
      await goOn.promise;
    }
    return investigator(call);
  };
  await start({ agents: { investigator: slow } });
  const { set } = await pinned('one', 'two');
  held = true;
  await nightFalls();
  await asked.promise;
  expect((await site.send('POST', `/golden-sets/${set}/archive`)).status).toBe(200);
  goOn.resolve();
  expect(await ended(set)).toMatchObject({ status: 'completed', n_members: 2, n_regressed: 0 });
  await nightFalls(NIGHT + DAY_MS);
  expect((await history(set)).regressions).toHaveLength(1);
});

test('the alert of a crash is stored before the replay begins, and goes out when nobody shows a sign of life', async () => {
  await start({ agents: { investigator: hang } });
  const set = (await site.send('POST', '/golden-sets', { body: { name: 'triage', step_name: 'look' } })).body.id;
  const jsonl = [
    '{"golden_set":"triage","step_name":"look","description":""}',
    `{"step_id":"gone","run_id":"${crypto.randomUUID()}","step_name":"look","outcome":"correct","label_source":"human","note":null,"pinned_at":"2026-11-02T09:31:12.000Z","pinned_by":"ada","prompt_hash":null,"agent_version":null}`,
  ].join('\n');
  await site.services.goldenSets.importFile(
    { jsonl, overwrite: false },
    { name: 'ada', kind: 'token', role: 'operator', requestId: null },
  );
  // The process dies right after it took the fire.
  vi.spyOn(site.world.engine, 'begin').mockImplementation(() => undefined);
  await nightFalls();
  await sent();
  expect(bodies()).toEqual([]);
  vi.setSystemTime(NIGHT + GRACE_MS + 1_000);
  await sent();
  const { regressions } = await history(set);
  expect(bodies()).toMatchObject([
    {
      id: `regression/${regressions[0].id}/crash`,
      event: 'regression',
      run: { status: 'crashed', reason: 'The replay did not come to its end.' },
    },
  ]);
});

test('a replay whose step is not defined any more is a crash that alerts at once', async () => {
  await start();
  const { set } = await pinned('one');
  site.world.pipelines.clear();
  await nightFalls();
  const crashed = await ended(set);
  expect(crashed).toMatchObject({ status: 'crashed', fresh_accuracy: null });
  expect(crashed.error).toContain('no definition of step "look" is known');
  expect(bodies()).toMatchObject([{ run: { status: 'crashed' } }]);
});

test('a replay that is alive postpones its alert, however long it takes', async () => {
  let held: (() => void) | null = null;
  const slow: Script = async (call) => {
    if (call.input.includes('in blue') && held) await new Promise<void>((resolve) => (held = resolve));
    return investigator(call);
  };
  await start({ agents: { investigator: slow } });
  const { set } = await pinned('one');
  held = () => undefined;
  await nightFalls();
  try {
    for (let minute = 1; minute <= 10; minute += 1) {
      vi.setSystemTime(NIGHT + minute * 60_000);
      await watch().fireDue(Date.now(), Date.now());
      await sent();
    }
    expect(bodies()).toEqual([]);
  } finally {
    held();
  }
  expect(await ended(set)).toMatchObject({ status: 'completed', alert: null });
  expect(bodies()).toEqual([]);
});

test('a fire that was missed while the service was down is not made up for, but within catch_up_seconds', async () => {
  await start();
  const { set } = await pinned('one');
  const clock = (catchUpSeconds: number) =>
    createClock({
      fireDue: watch().fireDue,
      busy: () => true,
      lastLook: () => Promise.resolve(EVENING),
      noteLook: () => Promise.resolve(),
      catchUpSeconds,
      now: Date.now,
      log: { warn: note },
    });
  vi.setSystemTime(NIGHT + 600_000);
  for (const [seconds, runs] of [
    [0, 0],
    [3600, 1],
  ] as const) {
    const ticking = clock(seconds);
    await ticking.start();
    await ticking.stop();
    expect((await history(set)).regressions).toHaveLength(runs);
  }
  await ended(set);
});

test('GET /definitions has what the last replay of each set in use says', async () => {
  await start();
  const { set } = await pinned('one');
  const said = async () => (await site.send('GET', '/definitions', { role: 'viewer' })).body.golden_sets;
  const triage = { name: 'triage' };
  expect(await said()).toEqual([{ ...triage, verdict: 'unknown', reason: 'no replay of the set has ended yet' }]);
  await nightFalls();
  await ended(set);
  expect(await said()).toEqual([{ ...triage, verdict: 'regression_free', reason: 'none of 1 members regressed' }]);
  changePrompt('{{summary}}');
  await nightFalls(NIGHT + DAY_MS);
  await ended(set);
  expect(await said()).toEqual([{ ...triage, verdict: 'regressed', reason: '1 of 1 members regressed' }]);
  await site.send('POST', `/golden-sets/${set}/archive`);
  expect(await said()).toEqual([]);
});
