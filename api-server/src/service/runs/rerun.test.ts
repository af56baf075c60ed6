import { sql } from 'kysely';
import { afterEach, expect, test } from 'vitest';
import type { Snapshot } from '../../definitions/snapshot.ts';
import { beginRerun } from '../../runs/fixtures/begin-rerun.ts';
import { createWorld, type Ended, sure, type World, type WorldOptions } from '../../runs/fixtures/engine.ts';
import { ANYBODY } from '../approvals/anybody.fixture.ts';
import type { ApproverRules } from '../approvals/approvers.ts';
import { createHeld, holdingFor } from '../reading/held.ts';
import { createReadingRoom, type Reading } from '../reading/reading-room.ts';
import { rerun } from './rerun.ts';

let world: World;
afterEach(() => world.close());

const person = (name: string) => ({ name, kind: 'token' as const, role: 'operator' as const, requestId: null });
const HUMAN = '{name: approve, executor: human, timeout_seconds: 900, prompt_template: "Restart?"}';
const ACT = '{name: act, executor: gateway, agent: one, prompt_template: x}';
const textOf = (asks: string) => `name: p\nstage: production\nsteps: [${asks}, ${ACT}]\n`;
const BELOW = `name: below\nstage: production\nsteps: [${HUMAN}]\n`;
const WITHOUT_STARTER: ApproverRules = { ...ANYBODY, notTheStarter: true };
const ASKS: [string, string][] = [
  ['a step', HUMAN],
  ['a branch', `{name: both, parallel: {steps: [${HUMAN}]}}`],
  ['an item', `{name: each, fan_out: {over: "[1]", step: ${HUMAN.replace('name: approve, ', '')}}}`],
  ['a sub-run', '{name: sub, executor: pipeline, pipeline: below}'],
];

async function make(asks: string, options: Partial<WorldOptions> = {}): Promise<WorldOptions> {
  const all = { pipelines: [textOf(asks), BELOW], agents: { one: () => sure(0.9) }, ...options };
  world = await createWorld(all);
  return all;
}

/** An alert starts the run, and these persons answer the question. */
async function answered(names: readonly string[]): Promise<Ended> {
  const id = await world.start('p');
  const read = async () =>
    (await world.approvals.list({ status: 'pending' }, { limit: 1, offset: 0 })).approvals[0]?.id ?? '';
  await expect.poll(read).not.toBe('');
  const question = await read();
  for (const name of names)
    await world.approvals.decide(question, {
      verdict: { decision: 'approve', fields: {}, comment: null },
      by: person(name),
    });
  return world.ended(id);
}

const ROOMY: Reading = (_bytes, read) => read();

interface Given {
  reading?: Reading;
  fromStep?: string | null;
}

async function again(id: string, by: string, { reading = ROOMY, fromStep = 'act' }: Given = {}): Promise<Ended> {
  let begun = '';
  const started = await rerun(
    {
      database: world.database,
      definitions: () => ({ byName: world.pipelines }) as unknown as Snapshot,
      approvals: world.approvals,
      intake: async ([request], alongside) => {
        begun = await beginRerun(world, request!);
        const named = { source: 'generic', pipeline: 'p', severity: null, summary: null };
        const verdict = { status: 'accepted' as const, runId: begun, ...named };
        await world.database.write((tx) => alongside(tx, [{ verdict, context: request!.context, coveredBy: [] }]));
        return [verdict];
      },
      now: Date.now,
      reading,
    },
    { id, fromStep, actor: person(by) },
  );
  return world.ended(started.run_id);
}

async function withRules(options: WorldOptions, rules: ApproverRules): Promise<void> {
  options.rules = rules;
  await world.restart();
}

const refusal = (entry: string, by: string, starter: string) => ({
  type: 'validation',
  message: `step "${entry}" asks people and the answer of ${by} does not approve a rerun by ${starter}; rerun from it or from a step before it`,
});

test.each(ASKS)('who approved %s does not rerun behind it where the starter may not approve', async (_, asks) => {
  await make(asks, { rules: WITHOUT_STARTER });
  const { run } = await answered(['ada']);
  const entry = /\w+/.exec(asks.slice('{name: '.length))![0];
  await expect(again(run.id, 'ada')).rejects.toMatchObject(refusal(entry, 'ada', 'ada'));
  expect(world.calls).toHaveLength(1);
  const second = await again(run.id, 'bea');
  expect([second.run.status, world.calls.length]).toEqual(['completed', 2]);
  await expect(again(second.run.id, 'ada')).rejects.toMatchObject(refusal(entry, 'ada', 'ada'));
  const third = await again(second.run.id, 'bea');
  expect(third.run.status).toBe('completed');
});

test('a rerun is audited with the approvals that it takes over, also where it repeats reruns', async () => {
  await make(HUMAN);
  const { run, step } = await answered(['ada']);
  const second = await again(run.id, 'ada');
  const third = await again(second.run.id, 'ada');
  await again(third.run.id, 'ada');
  const rows = await world.database.db.selectFrom('audit').selectAll().where('action', '=', 'rerun').execute();
  const outcome = `accepted with approval ${step('approve').id}`;
  expect(rows).toMatchObject([
    { target: run.id, outcome },
    { target: second.run.id, outcome },
    { target: third.run.id, outcome },
  ]);
});

const persons = (...names: string[][]) => new Map([['default', names]]);
test.each<[string, string[], Partial<ApproverRules>, boolean]>([
  ['one person where two are needed', ['ada'], { required: 2 }, false],
  ['a person who is no approver any more', ['ada'], { approvers: persons(['bea'], ['cleo']) }, false],
  ['one person under two names', ['ada', 'slack:U1'], { approvers: persons(['ada', 'slack:U1'], ['bea']) }, false],
  ['two persons', ['ada', 'bea'], { approvers: persons(['ada'], ['bea'], ['cleo']), notTheStarter: true }, true],
  ['two persons of whom one reruns', ['ada', 'dan'], { notTheStarter: true }, false],
])('an approval of %s meets the rules of the moment of the rerun', async (_, names, rules, holds) => {
  const options = await make(HUMAN, { rules: { ...ANYBODY, required: names.length } });
  const { run } = await answered(names);
  const second = await again(run.id, 'dan');
  await withRules(options, { ...ANYBODY, required: names.length, ...rules });
  for (const { id } of [run, second.run]) {
    const outcome = again(id, 'dan').then((ended) => ended.run.status);
    if (holds) await expect(outcome).resolves.toBe('completed');
    else await expect(outcome).rejects.toMatchObject(refusal('approve', names.join(', '), 'dan'));
  }
});

test('what the step asks for now holds for a rerun behind it', async () => {
  await make(HUMAN);
  const { run } = await answered(['ada']);
  const stricter = await createWorld({ pipelines: [textOf(HUMAN.replace('}', ', required: 2}'))] });
  world.pipelines.set('p', stricter.pipelines.get('p')!);
  await stricter.close();
  await expect(again(run.id, 'bea')).rejects.toMatchObject(refusal('approve', 'ada', 'bea'));
});

test.each([
  ['goes on', 'proceed', true],
  ['fails', 'fail', false],
])('a question that nobody answered is passed by a rerun where the step %s now', async (_, now, passes) => {
  const asks = HUMAN.replace('900', '1').replace('}', ', on_timeout: proceed}');
  await make(asks, { rules: { ...ANYBODY, required: 2 } });
  const { run } = await answered([]);
  const changed = await createWorld({ pipelines: [textOf(asks.replace('proceed', now))] });
  world.pipelines.set('p', changed.pipelines.get('p')!);
  await changed.close();
  if (passes) expect((await again(run.id, 'ada')).run.status).toBe('completed');
  else await expect(again(run.id, 'ada')).rejects.toMatchObject({ message: expect.stringContaining('no approval') });
});

test('an approval that a sub-run asked for in testing does not hold once its pipeline is one of production', async () => {
  const testing = BELOW.replace('production', 'testing');
  await make('{name: sub, executor: pipeline, pipeline: below}', { pipelines: [textOf(ASKS[3]![1]), testing] });
  const { run } = await answered(['ada']);
  expect((await again(run.id, 'bea')).run.status).toBe('completed');
  const promoted = await createWorld({ pipelines: [BELOW] });
  world.pipelines.set('below', promoted.pipelines.get('below')!);
  await promoted.close();
  await expect(again(run.id, 'bea')).rejects.toMatchObject(refusal('sub', 'ada', 'bea'));
});

test('an approval that is not stored any more is none', async () => {
  await make(HUMAN);
  const { run } = await answered(['ada']);
  await world.database.write((tx) => tx.db.deleteFrom('approvals').execute());
  await expect(again(run.id, 'bea')).rejects.toMatchObject({
    message: 'step "approve" asks people and no approval is stored; rerun from it or from a step before it',
  });
});

test('a rerun from a step has room for what it reads until the run is started, one from the start reads no step', async () => {
  await make(ACT.replace('act', 'look'));
  const { run } = await world.run('p');
  const room = createReadingRoom({ bytes: 1, maxWaiting: 9, waitMs: 60_000 });
  const asked: number[] = [];
  const reading: Reading = (bytes, read) => {
    asked.push(bytes);
    return room(bytes, read);
  };
  // As one request for many runs does.
  await holdingFor(createHeld(), async () => {
    for (const _ of [1, 2]) expect((await again(run.id, 'ada', { reading })).run.status).toBe('completed');
  });
  expect(asked).toHaveLength(2);
  expect(asked[0]).toBeGreaterThan(2 * 1024);
  await world.database.write(({ db }) =>
    db.updateTable('step_executions').set({ output: '{' }).where('run_id', '=', run.id).execute(),
  );
  await expect(again(run.id, 'ada')).rejects.toThrow(SyntaxError);
  expect((await again(run.id, 'ada', { reading, fromStep: null })).run.status).toBe('completed');
  expect(asked).toHaveLength(2);
});

const CALLS = '{name: sub, executor: pipeline, pipeline: below}';

test('a rerun reads no text of sub-runs, and has room for what it reads of their steps', async () => {
  await make(CALLS);
  const { run } = await answered(['ada']);
  const asked: number[] = [];
  const reading: Reading = (bytes, read) => {
    asked.push(bytes);
    return read();
  };
  await again(run.id, 'bea', { reading });
  const sub = { raw_response: '{', output: '{', summary: 'x'.repeat(1_000_000) };
  await world.database.write(async ({ db }) => {
    const { rows } = await sql<
      Record<string, unknown>
    >`SELECT * FROM step_executions WHERE step_name = 'approve'`.execute(db);
    const more = Array.from({ length: 40 }, (_, at) => ({ ...rows[0], id: `more${at}`, step_name: `more${at}` }));
    await db
      .insertInto('step_executions')
      .values(more as never)
      .execute();
    await db.updateTable('step_executions').set(sub).where('step_name', '=', 'approve').execute();
  });
  expect((await again(run.id, 'bea', { reading })).run.status).toBe('completed');
  expect(asked[1]! - asked[0]!).toBe(40 * 512);
});

test('of sub-runs with more steps than are read nothing is taken over', async () => {
  await make(CALLS);
  const { run } = await answered(['ada']);
  await world.database.write(async ({ db }) => {
    const { rows } = await sql<
      Record<string, unknown>
    >`SELECT * FROM step_executions WHERE step_name = 'approve'`.execute(db);
    const rest = Object.keys(rows[0]!).filter((name) => name !== 'id' && name !== 'step_name');
    const columns = sql.join(rest.map((name) => sql.ref(name)));
    await sql`INSERT INTO step_executions (id, step_name, ${columns})
      WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50000)
      SELECT 'more' || i, 'more' || i, ${columns} FROM step_executions, n WHERE step_name = 'approve'`.execute(db);
  });
  await expect(again(run.id, 'bea')).rejects.toThrow('more than 50000 steps of sub-runs');
});

const TWO = `name: p\nstage: production\nsteps: [${ACT.replace('act', 'first')}, ${ACT}]\n`;

test('the answers that a rerun takes over count among its own', async () => {
  const each = (name: string) =>
    `{name: ${name}, fan_out: {over: "[1, 2, 3, 4, 5, 6, 7, 8]", step: {executor: gateway, agent: one, prompt_template: x}}}`;
  let chars = 1_000_000;
  const one = () => sure(0.9, { text: 'x'.repeat(chars) });
  const text = `name: p\nstage: production\nsteps: [${each('first')}, ${HUMAN}, ${each('act')}]\n`;
  world = await createWorld({ pipelines: [text], agents: { one } });
  const id = await world.start('p');
  await expect.poll(() => world.calls.length).toBe(8);
  chars = 1;
  const read = async () =>
    (await world.approvals.list({ status: 'pending' }, { limit: 1, offset: 0 })).approvals[0]?.id;
  await expect.poll(read).toBeDefined();
  const yes = { verdict: { decision: 'approve' as const, fields: {}, comment: null }, by: person('bea') };
  await world.approvals.decide((await read()) ?? '', yes);
  expect((await world.ended(id)).run.status).toBe('completed');
  chars = 1_000_000;
  expect((await again(id, 'ada')).step('act/7').error?.message).toContain('more than 16 MiB together');
});

test('a run of more than 64 MiB is rerun from the start only', async () => {
  world = await createWorld({ pipelines: [TWO], agents: { one: () => sure(0.9) } });
  const { run } = await world.run('p');
  const large = { error_message: 'x'.repeat(65 * 1024 * 1024) };
  await world.database.write((tx) =>
    tx.db.updateTable('step_executions').set(large).where('step_name', '=', 'first').execute(),
  );
  await expect(again(run.id, 'ada')).rejects.toThrow('rerun it from the start');
  expect((await again(run.id, 'ada', { fromStep: null })).run.status).toBe('completed');
});
