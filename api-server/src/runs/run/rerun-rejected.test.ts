import { afterEach, expect, test } from 'vitest';
import type { Snapshot } from '../../definitions/snapshot.ts';
import { askedBelow } from '../../store/tables/sub-runs/asked-below.ts';
import { CONTEXT, createWorld, sure, type World } from '../fixtures/engine.ts';
import { type Original, planRerun } from './rerun.ts';

let world: World;
afterEach(() => world.close());

const named = (name: string, ...steps: string[]) => `name: ${name}\nstage: production\nsteps: [${steps.join(', ')}]`;
const call = (pipeline: string) => `{name: sub, executor: pipeline, pipeline: ${pipeline}, on_failure: continue}`;
const HUMAN = '{name: approve, executor: human, timeout_seconds: 90, prompt_template: "Restart?"}';
const ACT = '{name: act, executor: gateway, agent: one, prompt_template: x}';

test.each(['failed', 'completed'] as const)(
  'no rerun goes on behind a rejection in or below a sub-run that is stored as %s',
  async (status) => {
    const pipelines = [named('p', call('below'), ACT), named('below', call('asking')), named('asking', HUMAN)];
    world = await createWorld({ pipelines, agents: { one: () => sure(0.9) } });
    const id = await world.start('p');
    const question = async () =>
      (await world.approvals.list({ status: 'pending' }, { limit: 1, offset: 0 })).approvals[0];
    await expect.poll(question).toBeDefined();
    const verdict = { decision: 'reject' as const, fields: {}, comment: null };
    const by = { name: 'ada', kind: 'token' as const, role: null, requestId: null };
    await world.approvals.decide((await question())!.id, { verdict, by });
    const { run, steps } = await world.ended(id);
    const found = await askedBelow(
      world.database.db,
      steps.flatMap(({ rawResponse }) => rawResponse?.childRunId ?? []),
    );
    const below = [...found].map(
      ([runId, sub]) => [runId, { ...sub, executed: sub.executed.map((step) => ({ ...step, status })) }] as const,
    );
    const original = { ...run, context: CONTEXT, namespace: null, steps: steps.map((step) => ({ ...step, status })) };
    const plan = (given: Original['below']) =>
      planRerun({ byName: world.pipelines } as unknown as Snapshot, { ...original, below: given }, 'act');
    expect(plan(new Map(below))).toMatchObject({ kind: 'invalid', message: expect.stringContaining('not approved') });
    const unread = below.map(([runId, sub]) => [runId, { ...sub, isRejected: false }] as const);
    expect(plan(new Map(unread))).toMatchObject({ kind: 'ready' });
  },
);
