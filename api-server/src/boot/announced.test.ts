import { createCompute } from '@signalbox/crds/process/compute';
import { afterEach, expect, onTestFinished, test } from 'vitest';
import { httpExecutor } from '../executors/http.ts';
import { createNotifications } from '../notify/notifications.ts';
import { createTemplates } from '../runs/prompt/templates.ts';
import { createWorld, type Script, type World } from '../runs/fixtures/engine.ts';
import type { Database } from '../store/db/database.ts';
import { createOutbox } from '../store/tables/outbox.ts';

const EVENTS = ['escalate', 'abort', 'stop', 'fail', 'complete'];
const ANNOUNCED = `notifications: {${EVENTS.map((event) => `${event}: [{channel: slack}]`).join(', ')}}`;
const step = (more = '') =>
  `steps: [{name: one, executor: gateway, agent: one, prompt_template: hi${more === '' ? '' : `, ${more}`}}]`;
const hang: Script = ({ signal }) =>
  new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
const answers =
  (more: object): Script =>
  () => ({ confidence: 0.9, summary: 'looked', ...more });

let world: World;
afterEach(() => world.close());

/** An engine whose runs announce their ends through the outbox. */
async function make(pipeline: string, one: Script): Promise<void> {
  const compute = createCompute({ timeoutMs: 1_000 });
  onTestFinished(() => compute.close());
  const quiet = { info: () => undefined, warn: () => undefined };
  const endWrites = (database: Database) =>
    createNotifications({
      settings: { routes: {}, give_up_after_seconds: 60 },
      regressions: [],
      publicUrl: null,
      hears: () => false,
      dailyBytes: () => null,
      templates: createTemplates({ sandbox: true, compute }),
      env: { valueOf: () => undefined, mask: (text) => text },
      http: httpExecutor([]),
      receiversOf: async () => null,
      authorOf: async ({ pipeline: name }) => ({ name, isTenant: false }),
      guardedHttp: httpExecutor([]),
      outbox: createOutbox(database),
      log: quiet,
      now: () => Date.now(),
    }).runEnded;
  const text = `name: p\nstage: production\n${ANNOUNCED}\n${pipeline}`;
  world = await createWorld({ pipelines: [text], agents: { one }, endWrites });
}

const announced = async () => {
  const rows = await world.database.db.selectFrom('notifications').select(['event', 'channel', 'message']).execute();
  return rows.map(({ event, channel, message }) => {
    const { step: about, reason } = JSON.parse(message) as { step: string | null; reason: string | null };
    return { event, channel, step: about, reason };
  });
};

test.each<[string, string, Script, object]>([
  ['an internal error', step(), () => Promise.reject(new TypeError('a bug')), { event: 'fail', step: null }],
  ['no step at all', step('when: "false"'), answers({}), { event: 'complete', step: null }],
  ['the last step', step(), answers({}), { event: 'complete' }],
  ['a gate', step(), answers({ confidence: 0.1 }), { event: 'escalate', step: 'one' }],
  ['a gate that aborts', step('on_low_confidence: abort'), answers({ confidence: 0.1 }), { event: 'abort' }],
  ['an agent that stops it', step(), answers({ proceed: false }), { event: 'stop' }],
  ['its time', `timeout_seconds: 1\n${step()}`, hang, { event: 'fail' }],
])('a run that ends by %s is announced', async (_, pipeline, script, expected) => {
  await make(pipeline, script);
  await world.run('p');
  expect(await announced()).toMatchObject([{ channel: 'slack', ...expected }]);
});

test.each([
  ['durable: {on_interrupted: escalate}', 'was interrupted by a restart'],
  ['durable: {max_resume_age_seconds: 60}', 'older than 60 s'],
])('a run that a restart ends is announced: %s', async (durable, reason) => {
  await make(`${durable}\n${step()}`, hang);
  const id = await world.start('p');
  await expect.poll(() => world.calls.length).toBe(1);
  await world.restart();
  await world.database.write((tx) => tx.db.updateTable('runs').set({ triggered_at: 1 }).execute());
  await world.engine.resume();
  await world.ended(id);
  expect(await announced()).toMatchObject([
    { event: 'escalate', channel: 'slack', step: null, reason: expect.stringContaining(reason) },
  ]);
});
