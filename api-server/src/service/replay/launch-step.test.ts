import { afterEach, expect, test } from 'vitest';
import { type Script, sure } from '../../runs/fixtures/engine.ts';
import { type ReplayOptions, type ReplayServer, startReplayServer } from '../../web/fixtures/replays.ts';

let site: ReplayServer;
afterEach(() => site.close());

const start = async (options: ReplayOptions = {}) => {
  site = await startReplayServer({ agents: { investigator: () => sure(0.9) }, ...options });
};
/** Answers differently to the candidate's model. */
const byModel =
  (recorded: Script, candidate: Script): Script =>
  (call) =>
    call.model === undefined ? recorded(call) : candidate(call);

test('a batch is one run of stage testing and source replay, its rows carry the edition of the candidate', async () => {
  await start();
  const { run } = await site.record();
  await site.record({ summary: 'the second alert' });
  const body = { bucket: 'current', candidate: { prompt_template: 'say {{summary}}' }, mode: 'rerender' };
  const answer = await site.send('POST', '/steps/look/replay', { body });
  expect(answer.status).toBe(200);
  expect(answer.body).toEqual({ status: 'completed', run_id: expect.any(String) });
  const batch = await site.world.ended(answer.body.run_id);
  expect(batch.run).toMatchObject({ stage: 'testing', source: 'replay', status: 'completed', team: null });
  const steps = batch.steps.toSorted((a, b) => (a.stepName < b.stepName ? -1 : 1));
  expect(steps.map(({ stepName }) => stepName)).toEqual(['look/0', 'look/1']);
  for (const step of steps) {
    expect(step).toMatchObject({ agent: 'investigator', agentVersion: 'v1', status: 'completed' });
    expect(step.promptHash).not.toBe((await site.world.ended(run.id)).step('look').promptHash);
  }
  expect((await site.send('GET', `/runs/${answer.body.run_id}`)).body).toMatchObject({
    source: 'replay',
    replay_of: { kind: 'step', step_name: 'look', mode: 'rerender', candidate: body.candidate, k: 20 },
  });
  expect((await site.send('GET', `/runs/${run.id}`)).body).not.toHaveProperty('replay_of');
  expect(steps.map(({ rawResponse }) => rawResponse?.prompt)).toEqual([
    'say the second alert',
    'say the checkout is slow',
  ]);
});

test('every field of a report', async () => {
  const said = (bad: boolean, confidence: number) => ({
    confidence,
    summary: bad ? 'it is the network' : 'it is the pool',
    output: {},
    bad,
  });
  await start({
    agents: {
      investigator: byModel(
        () => sure(0.85),
        ({ input }) => (input.includes('second') ? said(true, 0.4) : said(false, input.includes('first') ? 0.95 : 0.7)),
      ),
    },
    pricing: [{ provider: 'p', model: 'm', inputPerMtok: 1_000_000, outputPerMtok: 2_000_000 }],
  });
  const third = await site.record({ summary: 'third' }, 'partial');
  const second = await site.record({ summary: 'second' }, 'correct');
  const first = await site.record({ summary: 'first' }, 'correct');
  const report = await site.replay({ mode: 'rendered', k: 3 });
  const { provider, promptHash } = first.step('look');
  const used = {
    n: 3,
    input_tokens: 30,
    output_tokens: 15,
    cost: 60,
    unpriced: 0,
    duration_seconds: expect.any(Number),
  };
  expect(report).toEqual({
    step_name: 'look',
    mode: 'rendered',
    source_bucket: { agent: 'investigator', model: 'm', provider, prompt_hash: promptHash, agent_version: 'v1' },
    candidate: { model: 'm2' },
    k: 3,
    recorded_distribution: { correct: 2, partial: 1, incorrect: 0 },
    recorded_accuracy: 2.5 / 3,
    candidate_accuracy_so_far: 0,
    candidate_graded_n: 1,
    candidate_total_n: 3,
    checks_not_run: [],
    unreplayable_count: 0,
    judge_accuracy: null,
    judge_graded_n: 0,
    judge_skipped_n: 0,
    judge_skipped_breakdown: {},
    combined_accuracy: 0,
    confidence_distribution: expect.any(Array),
    rows: expect.any(Array),
    run_id: expect.any(String),
    kind: 'step',
    source: 'replay',
    status: 'completed',
    triggered_at: expect.any(String),
    completed_at: expect.any(String),
    regressed: 1,
    improved: 0,
    unchanged: 0,
    label_divergences: [],
    used: { recorded: used, candidate: used },
    judge: null,
  });
  const counts = (report.confidence_distribution as { lo: number; recorded_n: number; candidate_n: number }[]).map(
    ({ recorded_n, candidate_n }) => [recorded_n, candidate_n],
  );
  expect(counts).toEqual([
    [0, 0],
    [0, 0],
    [0, 0],
    [0, 0],
    [0, 1],
    [0, 0],
    [0, 0],
    [0, 1],
    [3, 0],
    [0, 1],
  ]);
  expect(report.rows[0]).toEqual({
    sample_step_id: first.step('look').id,
    source_summary: 'first',
    recorded_label: 1,
    recorded_label_source: 'human',
    status: 'completed',
    candidate_step_id: expect.any(String),
    candidate_confidence: 0.95,
    candidate_summary: 'it is the pool',
    deterministic_passed: true,
    mark_outcome: null,
    reason: null,
    change: null,
    recorded: expect.objectContaining({ run_id: first.run.id, step_name: 'look', confidence: 0.85, summary: 'looked' }),
    candidate: {
      run_id: report.run_id,
      step_name: 'look/0',
      status: 'completed',
      confidence: 0.95,
      summary: 'it is the pool',
      output: { output: {}, bad: false },
      input_tokens: 10,
      output_tokens: 5,
      cost: 20,
      duration_seconds: expect.any(Number),
      error: null,
    },
  });
  expect(report.rows[1]).toMatchObject({
    sample_step_id: second.step('look').id,
    status: 'deterministic_failed',
    deterministic_passed: false,
    candidate_label: 0,
    candidate_label_source: 'deterministic',
    change: 'regressed',
  });
  expect(report.rows[2]).toMatchObject({ sample_step_id: third.step('look').id, recorded_label: 0.5 });

  await site.mark(report.run_id, 'look/0', 'correct');
  await site.mark(report.run_id, 'look/2', 'correct');
  await site.mark(report.run_id, 'look/1', 'partial');
  const later = await site.report(report.run_id);
  expect(later).toMatchObject({
    candidate_graded_n: 3,
    candidate_accuracy_so_far: 2.5 / 3,
    combined_accuracy: 2.5 / 3,
  });
  expect(later).toMatchObject({ regressed: 1, improved: 1, unchanged: 1 });
  expect(later.rows[1]).toMatchObject({
    mark_outcome: 'partial',
    candidate_label: 0.5,
    candidate_label_source: 'human',
  });

  await site.mark(second.run.id, 'look', 'incorrect');
  expect(await site.report(report.run_id)).toMatchObject({
    recorded_distribution: { correct: 1, partial: 1, incorrect: 1 },
    improved: 2,
    label_divergences: [],
  });
});

test('rendered sends the recorded prompt, rerender the template in what the recorded run knew', async () => {
  await start();
  const { run } = await site.record({ labels: { service: 'shop' } });
  site.world.calls.length = 0;
  await site.replay({ mode: 'rendered' });
  const recorded = 'look at the checkout is slow in blue of shop';
  expect(site.world.calls.map(({ input, model }) => [input, model])).toEqual([[recorded, 'm2']]);
  const template = '{{run_id}} {{stage}} {{team}} {{vars.cluster}} {{labels.service}} {{metadata.region}}';
  await site.replay({ candidate: { prompt_template: template } });
  expect(site.world.calls.at(-1)?.input).toBe(`${run.id} production payments blue shop eu`);
});

const PLAN = `
name: checkout
stage: production
steps:
  - {name: collect, executor: gateway, agent: investigator, prompt_template: 'collect {{summary}}'}
  - {name: look, executor: gateway, agent: investigator, prompt_template: 'look at {{steps.collect.summary}}'}
  - name: plan
    executor: gateway
    agent: investigator
    prompt_template: plan
    deterministic_checks:
      - {name: go, type: shell, run: 'test "$GO" = true', env: {GO: '{{steps.collect.output.go}}'}, expect: exit_code == 0}
`;

test('rendered reads the answers of other steps only where a check may', async () => {
  await start({ pipelines: [PLAN], agents: { investigator: () => ({ ...sure(0.9), go: true }) } });
  await site.record({}, 'correct', 'plan');
  const { rows } = await site.replay({ mode: 'rendered' }, 'plan');
  expect(rows).toMatchObject([{ status: 'completed', deterministic_passed: true }]);
  const { run, step } = await site.record();
  await site.world.database.write((tx) =>
    tx.db.updateTable('step_executions').set({ output: '{' }).where('id', '=', step('collect').id).execute(),
  );
  const report = await site.replay({ mode: 'rendered', k: 1 });
  expect(report).toMatchObject({ status: 'completed', candidate_total_n: 1 });
  expect(report.rows[0].recorded.run_id).toBe(run.id);
});

test('a sample without a stored prompt is unreplayable where the recorded prompt is sent, and never dropped', async () => {
  await start();
  const { run } = await site.record();
  await site.record();
  await site.world.database.write((tx) =>
    tx.db.updateTable('step_executions').set({ raw_response: null }).where('run_id', '=', run.id).execute(),
  );
  const report = await site.replay({ mode: 'rendered' });
  expect(report).toMatchObject({ unreplayable_count: 1, candidate_total_n: 1 });
  expect(report.rows).toHaveLength(2);
  expect(report.rows[1]).toMatchObject({
    status: 'unreplayable',
    reason: 'the recorded execution has no stored prompt',
    recorded_label: 1,
    candidate: null,
  });
  expect(await site.replay({ mode: 'rerender' })).toMatchObject({ unreplayable_count: 0, candidate_total_n: 2 });
});

test('three candidates run at the same time, and no more', async () => {
  let most = 0;
  const waiting: (() => void)[] = [];
  /** Nobody gets an answer before three have asked. */
  const busy: Script = async () => {
    const answered = new Promise<void>((resolve) => waiting.push(resolve));
    most = Math.max(most, waiting.length);
    if (waiting.length === 3) setImmediate(() => waiting.splice(0).forEach((answer) => answer()));
    await answered;
    return sure(0.9);
  };
  await start({ agents: { investigator: byModel(() => sure(0.9), busy) } });
  for (let i = 0; i < 9; i += 1) await site.record();
  expect((await site.replay()).candidate_total_n).toBe(9);
  expect(most).toBe(3);
});

test('the newest k labelled executions of the bucket in production', async () => {
  await start();
  const old = await site.record({ summary: 'old' });
  await site.record({ summary: 'unmarked' }, null);
  const newer = await site.record({ summary: 'newer' }, 'incorrect');
  const newest = await site.record({ summary: 'newest' });
  const ids = async (body: Record<string, unknown>) =>
    ((await site.replay(body)).rows as { sample_step_id: string }[]).map((row) => row.sample_step_id);
  const all = [newest, newer, old].map((run) => run.step('look').id);
  expect(await ids({})).toEqual(all);
  expect(await ids({ k: 2 })).toEqual(all.slice(0, 2));
});

test('the recorded label is the mark of the step, else a failed check, else the mark of the run', async () => {
  let bad = false;
  await start({ agents: { investigator: () => ({ ...sure(0.9), bad }) } });
  const markRun = async ({ run }: { run: { id: string } }) =>
    expect((await site.send('POST', `/runs/${run.id}/feedback`, { body: { outcome: 'partial' } })).status).toBe(200);
  await markRun(await site.record({}, null));
  bad = true;
  await markRun(await site.record({}, null));
  await markRun(await site.record({}, 'correct'));
  expect((await site.replay()).rows).toMatchObject([
    { recorded_label: 1, recorded_label_source: 'human' },
    { recorded_label: 0, recorded_label_source: 'deterministic' },
    { recorded_label: 0.5, recorded_label_source: 'run' },
  ]);
});

test('current is the bucket of the newest answer: a failed call has none', async () => {
  await start();
  const { step } = await site.record();
  site.world.agents['investigator'] = () => ({ ok: false, type: 'unavailable', message: 'down', retryable: false });
  await site.record({}, null);
  site.world.agents['investigator'] = () => sure(0.9);
  const { source_bucket: bucket } = await site.replay();
  expect(bucket).toMatchObject({ provider: 'p', agent_version: 'v1', prompt_hash: step('look').promptHash });
});

test('a candidate whose agent is gone, or that answers nonsense, is a failed execution', async () => {
  await start({
    agents: { investigator: () => sure(0.9), odd: () => ({ nonsense: true }) },
    safeAgents: ['investigator', 'odd', 'gone'],
    replay: { safeAgents: ['gateway:investigator', 'gateway:odd', 'gateway:gone'] },
  });
  await site.record();
  for (const [agent, reason] of [
    ['gone', 'no agent gone'],
    ['odd', expect.stringContaining('does not fit its schema')],
  ]) {
    const report = await site.replay({ candidate: { agent } });
    expect(report.rows[0]).toMatchObject({ status: 'execution_failed', reason, change: null });
    expect(report).toMatchObject({ candidate_accuracy_so_far: null, candidate_total_n: 1, status: 'completed' });
  }
});

test('a recorded row whose agent is gone is a failed execution, and can be replayed with another agent', async () => {
  await start({
    safeAgents: ['investigator', 'other'],
    replay: { safeAgents: ['gateway:investigator', 'gateway:other'] },
  });
  await site.record();
  delete site.world.agents['investigator'];
  site.world.agents['other'] = () => sure(0.8);
  const gone = await site.replay({ candidate: {}, mode: 'rendered' });
  expect(gone).toMatchObject({ status: 'completed', unreplayable_count: 0, candidate_accuracy_so_far: null });
  expect(gone.rows).toMatchObject([{ status: 'execution_failed', reason: 'no agent investigator', recorded_label: 1 }]);
  const moved = await site.replay({ candidate: { agent: 'other' }, mode: 'rendered' });
  expect(moved.rows).toMatchObject([{ status: 'completed', candidate_confidence: 0.8 }]);
});

test('an explicit list of samples with pinned labels, started without waiting', async () => {
  await start();
  const { run, step } = await site.record();
  const id = step('look').id;
  const { replays } = site;
  const runId = await replays.start({
    stepName: 'look',
    samples: [{ stepId: id, outcome: 'partial', labelSource: 'human' }, { stepId: 'long gone' }],
    candidate: {},
    mode: 'rerender',
    source: 'regression',
    base: 'loaded',
  });
  expect(await replays.settled(runId, AbortSignal.timeout(60_000))).toBe('completed');
  await site.mark(run.id, 'look', 'incorrect');
  const report = await site.report(runId);
  expect(report).toMatchObject({
    source: 'regression',
    source_bucket: null,
    candidate: {},
    k: 2,
    label_divergences: [{ sample_step_id: id, pinned_label: 0.5, current_label: 0 }],
  });
  expect(report.rows).toMatchObject([
    { status: 'completed', recorded_label: 0.5 },
    { status: 'unreplayable', reason: 'the recorded execution is gone', sample_step_id: 'long gone', recorded: null },
  ]);
  expect((await site.world.ended(runId)).run.source).toBe('regression');
});
