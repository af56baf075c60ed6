import { afterEach, expect, test, vi } from 'vitest';
import type { Snapshot } from '../../definitions/snapshot.ts';
import { beginRerun } from '../../runs/fixtures/begin-rerun.ts';
import { createWorld, hang, sure, type World } from '../../runs/fixtures/engine.ts';
import { stepView } from '../../runs/run/step-view.ts';
import type { StepExecution } from '../../runs/state/model.ts';
import { readInterrupted } from '../../store/tables/interrupted.ts';
import { rerun, type RerunDeps } from './rerun.ts';

let world: World;
afterEach(() => world.close());

const GROUPS = 20;
const ITEMS = 200;
const ALL = GROUPS * (ITEMS + 1);
const ASK = 'executor: gateway, agent: one, prompt_template: x';
const group = (at: number) => `{name: g${at}, fan_out: {over: "[]", step: {${ASK}}}}`;
const PIPELINE = `name: p\nsteps: [${Array.from({ length: GROUPS }, (_, at) => group(at)).join()}, {name: last, ${ASK}}]\n`;
const OUTPUT = JSON.stringify({ list: Array.from({ length: 300 }, (_, at) => at) });

/** Branches of all groups, as if their lists had not been empty. */
async function addBranches(run: string): Promise<void> {
  await world.database.write(async ({ db }) => {
    const last = await db
      .selectFrom('step_executions')
      .selectAll()
      .where('run_id', '=', run)
      .where('step_name', '=', 'last')
      .executeTakeFirstOrThrow();
    const rows = Array.from({ length: GROUPS * ITEMS }, (_, at) => {
      const family = `g${Math.floor(at / ITEMS)}`;
      const name = `${family}/${at % ITEMS}`;
      return {
        ...last,
        id: `${run}/${name}`,
        step_name: name,
        family,
        kind: 'fan_out_branch' as const,
        output: OUTPUT,
      };
    });
    for (let at = 0; at < rows.length; at += 100)
      await db
        .insertInto('step_executions')
        .values(rows.slice(at, at + 100))
        .execute();
  });
}

async function turnsDuring(work: () => Promise<unknown>): Promise<number> {
  let turns = 0;
  const tick = () => {
    turns += 1;
    timer = setImmediate(tick);
  };
  let timer = setImmediate(tick);
  await work();
  clearImmediate(timer);
  return turns;
}

/** Makes them all once more where they were not made ahead. */
const areViewed = (steps: readonly StepExecution[]) => steps.every((step) => stepView(step) === stepView(step));

const ACTOR = { name: 'ada', kind: 'token', role: 'operator', requestId: null } as const;

const depsWith = (intake: RerunDeps['intake']): RerunDeps => ({
  database: world.database,
  definitions: () => ({ byName: world.pipelines }) as unknown as Snapshot,
  approvals: world.approvals,
  intake,
  now: Date.now,
  reading: (_bytes, read) => read(),
});

test('no rerun begins with more than a run may answer', async () => {
  world = await createWorld({ pipelines: [PIPELINE], agents: { one: () => sure(0.9) } });
  const { run } = await world.run('p');
  await addBranches(run.id);
  const begun = vi.fn<RerunDeps['intake']>();
  await world.database.write(({ db }) =>
    db
      .updateTable('step_executions')
      .set({ raw_response: '{"charged":10000}' })
      .where('run_id', '=', run.id)
      .where('kind', '=', 'fan_out_branch')
      .execute(),
  );
  const refused = rerun(depsWith(begun), { id: run.id, fromStep: 'last', actor: ACTOR });
  await expect(refused).rejects.toThrow('take more than 16 MiB, which no rerun takes over');
  expect(begun).not.toHaveBeenCalled();
});

test('what a rerun takes over, and what a restart goes on with, is compressed and stored in many turns', async () => {
  let isStuck = false;
  world = await createWorld({ pipelines: [PIPELINE], agents: { one: (call) => (isStuck ? hang(call) : sure(0.9)) } });
  const { run } = await world.run('p');
  await addBranches(run.id);
  isStuck = true;
  const found: { viewed?: boolean; writing?: number } = {};
  const intake: RerunDeps['intake'] = async ([request]) => {
    found.viewed = areViewed(request!.prior ?? []);
    let runId = '';
    found.writing = await turnsDuring(async () => (runId = await beginRerun(world, request!)));
    return [{ status: 'accepted', runId, source: 'generic', pipeline: 'p', severity: null, summary: null }];
  };
  const started = await rerun(depsWith(intake), { id: run.id, fromStep: 'last', actor: ACTOR });
  expect([started.prior_steps_loaded, found.viewed]).toEqual([ALL, true]);
  expect(found.writing).toBeGreaterThan(10);
  await expect.poll(() => world.calls.length).toBe(2);
  await world.restart();
  const [interrupted] = await readInterrupted(world.database.db);
  let steps: StepExecution[] = [];
  const reading = await turnsDuring(async () => (steps = (await interrupted!.read()).steps));
  expect([steps.length, areViewed(steps.filter(({ status }) => status !== 'running'))]).toEqual([ALL + 1, true]);
  expect(reading).toBeGreaterThan(10);
});
