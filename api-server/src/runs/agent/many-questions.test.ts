import type { Kysely, KyselyPlugin } from 'kysely';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { Database, Tx } from '../../store/db/database.ts';
import type { Tables } from '../../store/db/schema.ts';
import { createWorld, hang, type Script } from '../fixtures/engine.ts';
import type { Approval, ApprovalsOfRun } from '../human/approval.ts';
import type { ToolRequest } from '../state/executor.ts';
import { type Asking, askForTool } from './tool-approval.ts';

const PIPELINE = `name: p\nstage: production\nsteps:\n  - {name: fix, executor: gateway, agent: fixer, prompt_template: x, timeout_seconds: 60}\n`;
const question = (at: number): ToolRequest => ({
  backendRunId: 'g1',
  callId: `c${at}`,
  agent: 'fixer',
  server: 'cluster',
  tool: 'restart',
  input: { at },
  reason: null,
});

/** Counts the statements that look for what others asked before, and those that read questions whole. */
function counting() {
  const seen = { lookedThrough: 0, readWhole: 0 };
  const plugin: KyselyPlugin = {
    transformQuery: ({ node }) => {
      const text = JSON.stringify(node);
      if (text.includes('"approvals"') && text.includes('backend_run_id') && node.kind === 'UpdateQueryNode')
        seen.lookedThrough += 1;
      if (text.includes('"approvals"') && text.includes('SelectAllNode')) seen.readWhole += 1;
      return node;
    },
    transformResult: ({ result }) => Promise.resolve(result),
  };
  const counted = (db: Kysely<Tables>) => db.withPlugin(plugin);
  const countedTx = (tx: Tx): Tx => {
    const get = (of: Tx, key: keyof Tx) => {
      const value: unknown = of[key];
      return key === 'db' ? counted(of.db) : typeof value === 'function' ? (value.bind(of) as unknown) : value;
    };
    return new Proxy(tx, { get });
  };
  const wrap = (database: Database): Database => ({
    ...database,
    db: counted(database.db),
    write: (job) => database.write((tx) => job(countedTx(tx))),
  });
  return { seen, wrap };
}

test('what a step asks is looked through once for each run of its agent, and read whole no more while it waits', async () => {
  const { seen, wrap } = counting();
  const asks: Script = (call) => {
    for (let at = 0; at < 20; at++) void call.onApproval?.(question(at))?.catch(() => undefined);
    return hang(call);
  };
  const world = await createWorld({ pipelines: [PIPELINE], agents: { fixer: asks }, wrap });
  onTestFinished(() => world.close());
  const { database, start, approvals } = world;
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  await start('p');
  const waiting = () => database.db.selectFrom('approvals').select('id').where('status', '=', 'pending').execute();
  await expect.poll(async () => (await waiting()).length).toBe(20);
  await expect.poll(() => approvals.pendingByTeam().get('payments')).toBe(20);
  expect(seen.lookedThrough).toBe(1);
  const before = seen.readWhole;
  for (let looks = 0; looks < 3; looks++) await vi.advanceTimersByTimeAsync(10_000);
  expect(seen.readWhole).toBe(before);
});

/** A question to people who answer when they are told to, and what it counted meanwhile. */
function asking(room: number) {
  const answered = Promise.withResolvers<Partial<Approval>>();
  let [held, stored] = [0, 0];
  const asked: Approval[] = [];
  const approvals: ApprovalsOfRun = {
    ask: (_, approval) => {
      asked.push(approval);
      return [];
    },
    answer: async (approval) => ({ ...approval, ...(await answered.promise) }),
    goesOn: () => [],
    find: (id) => Promise.resolve(asked.find((approval) => approval.id === id) ?? null),
  };
  const run = { id: 'r', pipeline: { name: 'p' }, journal: { add: () => undefined }, team: null, stage: 'production' };
  const hold: Asking['attempt']['hold'] = ({ sends, stores }) => {
    const fits = held + sends <= room;
    if (fits) [held, stored] = [held + sends, stored + stores];
    const refused = { ok: false, type: 'prompts_too_large', message: 'too much', retryable: false } as const;
    return { refused: fits ? null : refused, [Symbol.dispose]: () => void (held -= fits ? sends : 0) };
  };
  const ask = (request: ToolRequest) =>
    askForTool(
      approvals,
      {
        ctx: { run, name: 'fix' } as unknown as Asking['ctx'],
        signal: new AbortController().signal,
        attempt: { store: () => Promise.resolve(), hold },
        turn: () => Promise.resolve(),
        deadline: 60_000,
        now: 0,
      },
      request,
    );
  return { ask, asked, answered, held: () => held, stored: () => stored };
}

test('a question that waits counts with its text and what it is read to; one without room is not asked', async () => {
  const large = (at: number) => ({ ...question(at), input: { list: Array.from({ length: 10_000 }, () => 7) } });
  const { ask, asked, answered, held } = asking(400_000);
  const both = [ask(large(1)), ask(large(2))];
  await expect.poll(held).toBeGreaterThan(20_000 + 16 * 10_000);
  await expect.poll(() => asked).toHaveLength(2);
  expect(await ask(large(3))).toMatchObject({
    approved: false,
    decidedBy: null,
    comment: 'nobody was asked: too much',
  });
  answered.resolve({ status: 'approved', decidedBy: 'ada' });
  expect((await Promise.all(both)).map(({ approved }) => approved)).toEqual([true, true]);
  expect(held()).toBe(0);
  expect(await ask(large(3))).toMatchObject({ approved: true });
});

test('a question that is stored already, as after a lost connection, counts for the day no more', async () => {
  const { ask, answered, held, stored } = asking(400_000);
  const first = ask(question(1));
  await expect.poll(stored).toBeGreaterThan(0);
  const [once, alone] = [stored(), held()];
  const again = ask(question(1));
  await expect.poll(held).toBe(2 * alone);
  expect(stored()).toBe(once);
  answered.resolve({ status: 'approved', decidedBy: 'ada' });
  expect((await Promise.all([first, again])).map(({ approved }) => approved)).toEqual([true, true]);
});
