import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { closeDays } from '../../store/aggregates/daily/close-days.ts';
import { pruneRuns } from '../../store/tables/prune.ts';
import { as, startTestServer, type TestServer } from '../fixtures/server.ts';
import { NOW, runIdOf } from '../fixtures/store.ts';

let server: TestServer;
const RUN = runIdOf(1);
beforeEach(async () => {
  server = await startTestServer();
  await server.store.addRun(1);
  await server.store.addStep(RUN, 'look', { id: 'step-1', deterministic_passed: null });
});
afterEach(() => server.close());

type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';
const call = (method: Method, url: string, payload?: object, role: 'operator' | 'viewer' = 'operator') =>
  server.app.inject({ method, url, headers: as(role), ...(payload && { payload }) });
const mark = (runId: string, outcome: string, step?: string) =>
  call('POST', `/runs/${runId}${step === undefined ? '' : `/steps/${step}`}/feedback`, { outcome });
const create = async (name = 'triage', step = 'look'): Promise<string> =>
  (await call('POST', '/golden-sets', { name, step_name: step })).json().id;
const pin = (set: string, runId = RUN, step = 'look') =>
  call('POST', `/golden-sets/${set}/members`, { run_id: runId, step_name: step, note: 'why' });
const read = async (set: string) => (await call('GET', `/golden-sets/${set}`, undefined, 'viewer')).json();
const refusal = (answer: Awaited<ReturnType<typeof call>>) => {
  const { type, message } = answer.json().detail;
  return { status: answer.statusCode, type, message };
};

test('a set begins empty, and a pinned step is a member with its label', async () => {
  const created = await call('POST', '/golden-sets', { name: 'triage', step_name: 'look', description: 'misread' });
  expect(created.statusCode).toBe(201);
  expect(created.json()).toMatchObject({ name: 'triage', members: 0, accuracy: null, created_by: 'the-operator' });
  await mark(RUN, 'partial', 'look');
  const pinned = await pin(created.json().id);
  expect(pinned.statusCode).toBe(201);
  const at = new Date(NOW).toISOString();
  expect(await read(created.json().id)).toEqual({
    id: created.json().id,
    name: 'triage',
    description: 'misread',
    step_name: 'look',
    created_at: at,
    created_by: 'the-operator',
    archived_at: null,
    members: 1,
    labels: { correct: 0, partial: 1, incorrect: 0 },
    accuracy: 0.5,
    rows: [
      {
        id: pinned.json().id,
        step_id: 'step-1',
        run_id: RUN,
        step_name: 'look',
        outcome: 'partial',
        label: 0.5,
        label_source: 'human',
        note: 'why',
        pinned_at: at,
        pinned_by: 'the-operator',
        prompt_hash: 'p1',
        agent_version: 'v1',
        pipeline_name: 'checkout',
        run_summary: 'Checkout is slow',
        summary: 'Database pool is exhausted',
        available: true,
        current_outcome: 'partial',
      },
    ],
  });
  expect((await call('GET', '/golden-sets', undefined, 'viewer')).json().golden_sets).toMatchObject([{ members: 1 }]);
});

test('a member keeps its label when the step is marked again, and says what it is now', async () => {
  const set = await create();
  await mark(RUN, 'correct', 'look');
  await pin(set);
  await mark(RUN, 'incorrect', 'look');
  expect((await read(set)).rows).toMatchObject([{ outcome: 'correct', label: 1, current_outcome: 'incorrect' }]);
});

test.each([
  ['the mark of the step before all others', { deterministic_passed: 0 }, 'correct', 'incorrect', 'human'],
  ['a failed check before the mark of the run', { deterministic_passed: 0 }, null, 'correct', 'deterministic'],
  ['the mark of the run', { deterministic_passed: 1 }, null, 'partial', 'run'],
])('the label is %s', async (_, values, ofStep, ofRun, source) => {
  await server.store.addRun(2);
  await server.store.addStep(runIdOf(2), 'look', values);
  if (ofStep !== null) await mark(runIdOf(2), ofStep, 'look');
  await mark(runIdOf(2), ofRun);
  expect((await pin(await create(), runIdOf(2))).json()).toMatchObject({ label_source: source });
});

describe('what cannot be pinned is refused with its reason', () => {
  test('a step without a label', async () => {
    expect(refusal(await pin(await create()))).toEqual({
      status: 422,
      type: 'unprocessable',
      message: 'the step has no label; mark it as correct, partial or incorrect first',
    });
  });
  test.each([
    [{ status: 'failed' as const, primary_confidence: null }, 'the step has no answer: its status is failed'],
    [{ executor: 'webhook' as const, agent: null }, 'a step of the executor webhook has no agent to replay'],
  ])('%j', async (values, message) => {
    await server.store.addRun(2);
    await server.store.addStep(runIdOf(2), 'look', values);
    await mark(runIdOf(2), 'correct');
    expect(refusal(await pin(await create(), runIdOf(2)))).toMatchObject({ status: 422, message });
  });
  test('the result of a replay', async () => {
    await server.store.addReplay(2, { source: 'regression' });
    await server.store.addStep(runIdOf(2), 'look');
    await mark(runIdOf(2), 'correct');
    expect(refusal(await pin(await create(), runIdOf(2))).message).toContain('result of a replay');
  });
  test('a step of another name, an unknown step, the same step twice', async () => {
    await mark(RUN, 'correct');
    expect(refusal(await pin(await create('other', 'fix')))).toMatchObject({ status: 422 });
    const set = await create();
    expect(refusal(await pin(set, RUN, 'nothing'))).toMatchObject({ status: 404, type: 'not_found' });
    expect((await pin(set)).statusCode).toBe(201);
    expect(refusal(await pin(set))).toMatchObject({
      status: 409,
      message: 'the golden set has this execution already',
    });
  });
});

test.each(['', ' ', '.', '../x', 'a b', 'a/b', '-x', 'ä', 'x'.repeat(65), 'a\0', '{{x}}', '<b>', "a'b", '__proto__'])(
  'the name %j is refused',
  async (name) => {
    const before = await server.store.contents();
    const answer = await call('POST', '/golden-sets', { name, step_name: 'look' });
    expect(refusal(answer)).toMatchObject({ status: 400, type: 'validation' });
    expect(refusal(answer).message).toContain('body.name');
    const step = await call('POST', '/golden-sets', { name: 'fine', step_name: name });
    expect(refusal(step).message).toContain('body.step_name');
    expect(await server.store.contents()).toBe(before);
  },
);

test('a name is given once, also when its set is archived', async () => {
  const set = await create();
  await call('POST', `/golden-sets/${set}/archive`);
  expect(refusal(await call('POST', '/golden-sets', { name: 'triage', step_name: 'look' }))).toMatchObject({
    status: 409,
    type: 'collision',
  });
});

test('an archived set takes no members until it is restored', async () => {
  await mark(RUN, 'correct');
  const set = await create();
  expect((await call('POST', `/golden-sets/${set}/archive`)).json().archived_at).not.toBeNull();
  expect(refusal(await pin(set))).toMatchObject({ status: 409, type: 'conflict' });
  expect((await call('POST', `/golden-sets/${set}/restore`)).json().archived_at).toBeNull();
  expect((await pin(set)).statusCode).toBe(201);
});

test('a note changes, a member goes, and the audit log has every step', async () => {
  await mark(RUN, 'correct');
  const set = await create();
  const member = (await pin(set)).json().id;
  const noted = await call('PATCH', `/golden-sets/${set}/members/${member}`, { note: 'two causes' });
  expect(noted.json()).toMatchObject({ note: 'two causes' });
  expect((await call('DELETE', `/golden-sets/${set}/members/${member}`)).json()).toEqual({ removed: member });
  expect(refusal(await call('DELETE', `/golden-sets/${set}/members/${member}`))).toMatchObject({ status: 404 });
  const { rows } = (await call('GET', '/audit?target_type=golden_set', undefined, 'viewer')).json();
  expect(rows.map(({ action, target }: Record<string, string>) => `${action} ${target}`)).toEqual([
    'unpin triage',
    'note triage',
    'pin triage',
    'create triage',
  ]);
});

test('retention removes an old run but for one with a pinned step, until it is unpinned', async () => {
  await server.store.addRun(2);
  await server.store.addStep(runIdOf(2), 'look');
  await mark(RUN, 'correct');
  const set = await create();
  const member = (await pin(set)).json().id;
  const later = NOW + 100 * 86_400_000;
  await closeDays({ database: server.store.database, now: later, signal: new AbortController().signal });
  expect(await pruneRuns(server.store.database, 90, later)).toBe(1);
  expect((await call('GET', `/runs/${runIdOf(2)}`)).statusCode).toBe(404);
  // What a replay renders the prompt from.
  expect((await call('GET', `/runs/${RUN}`)).json()).toMatchObject({
    context: { labels: { service: 'shop' } },
    steps: [{ id: 'step-1', output: { action: 'restart' } }],
  });
  await call('DELETE', `/golden-sets/${set}/members/${member}`);
  expect(await pruneRuns(server.store.database, 90, later)).toBe(1);
  expect((await call('GET', `/runs/${RUN}`)).statusCode).toBe(404);
});

describe('as a file', () => {
  const HEAD = '{"golden_set":"triage","step_name":"look","description":""}';
  const importFile = (jsonl: string) => call('POST', '/golden-sets/import', { jsonl });
  const exported = async (set: string) => (await call('GET', `/golden-sets/${set}/export`, undefined, 'viewer')).body;

  test('an exported set is imported under its name with the same members', async () => {
    await mark(RUN, 'correct');
    const set = await create();
    const member = (await pin(set)).json().id;
    const file = await exported(set);
    expect(file.split('\n').length).toBe(3);
    await call('DELETE', `/golden-sets/${set}/members/${member}`);
    expect((await importFile(file)).json()).toMatchObject({ id: set, added: 1, updated: 0, unavailable: 0 });
    expect(await exported(set)).toBe(file);
    const changed = file.replace('"correct"', '"incorrect"').replace('golden_set":"triage', 'golden_set":"copy');
    const copy = (await importFile(changed)).json();
    expect(await read(copy.id)).toMatchObject({ name: 'copy', labels: { correct: 0, partial: 0, incorrect: 1 } });
    expect((await importFile(changed)).json()).toMatchObject({ added: 0, unchanged: 1 });
  });

  test('other labels are refused with the members, until they are to be overwritten; the audit log names them', async () => {
    await mark(RUN, 'correct');
    const set = await create();
    await pin(set);
    const changed = (await exported(set)).replace('"correct"', '"incorrect"').replace('"note":"why"', '"note":"new"');
    const change = `${RUN}/look: correct (run) -> incorrect (run)`;
    expect(refusal(await importFile(changed))).toMatchObject({
      status: 409,
      type: 'conflict',
      message: expect.stringContaining(`other labels for 1 members: ${change}.`),
    });
    expect(await read(set)).toMatchObject({ labels: { correct: 1 }, rows: [{ note: 'why' }] });
    const overwritten = await call('POST', '/golden-sets/import?overwrite=true', { jsonl: changed });
    expect(overwritten.json()).toMatchObject({ added: 0, updated: 1 });
    expect(await read(set)).toMatchObject({ labels: { incorrect: 1 }, rows: [{ note: 'new' }] });
    const { rows } = (await call('GET', '/audit?action=import', undefined, 'operator')).json();
    expect(rows).toMatchObject([
      { actor: 'the-operator', target: 'triage', outcome: `added 0, updated 1; labels: ${change}` },
    ]);
    expect((await importFile(await exported(set))).json()).toMatchObject({ added: 0, updated: 0, unchanged: 1 });
  });

  test('the audit log names twenty changed labels and the number of the others', async () => {
    const row = (n: number, outcome: string) =>
      `{"step_id":"s${n}","run_id":"${runIdOf(n)}","step_name":"look","outcome":"${outcome}","label_source":"human","note":null,"pinned_at":"2026-11-02T09:31:12.000Z","pinned_by":"ada","prompt_hash":null,"agent_version":null}`;
    const file = (outcome: string) => [HEAD, ...Array.from({ length: 25 }, (_, n) => row(n, outcome))].join('\n');
    await importFile(file('correct'));
    await call('POST', '/golden-sets/import?overwrite=true', { jsonl: file('incorrect') });
    const [{ outcome }] = (await call('GET', '/audit?action=import', undefined, 'operator')).json().rows;
    expect(outcome).toMatch(/^added 0, updated 25; labels: .*; and 5 more$/);
    expect(outcome.match(/ -> /g)).toHaveLength(20);
  });

  test('an imported member is pinned by who imports it, whatever the file says', async () => {
    await mark(RUN, 'correct');
    const set = await create();
    await pin(set);
    const forged = (await exported(set)).replace('the-operator', 'the-auditor').replace('"triage"', '"copy"');
    const copy = (await importFile(forged)).json();
    expect((await read(copy.id)).rows).toMatchObject([{ pinned_by: 'the-operator' }]);
  });

  test('a member whose execution is not stored here is imported and counted', async () => {
    await mark(RUN, 'correct');
    const set = await create();
    await pin(set);
    const elsewhere = (await exported(set)).replaceAll('step-1', 'step-elsewhere');
    expect((await importFile(elsewhere)).json()).toMatchObject({ added: 1, unavailable: 1 });
    expect((await read(set)).rows).toMatchObject([{ available: true }, { available: false, pipeline_name: null }]);
  });

  test.each([
    ['', 'line 1: the file is empty'],
    ['{', 'line 1: is not JSON'],
    ['{"golden_set":"../x","step_name":"look","description":""}', 'line 1: golden_set: must match'],
    [`${HEAD}\n{"step_id":"x"}`, 'line 2: run_id'],
    [`${HEAD}\n\n[]`, 'line 3: '],
  ])('%j is refused with its line', async (file, message) => {
    const answer = refusal(await importFile(file));
    expect(answer).toMatchObject({ status: 400, type: 'validation' });
    expect(answer.message).toContain(message);
    expect((await call('GET', '/golden-sets')).json().golden_sets).toEqual([]);
  });

  test('a file with more lines than a set has members is refused before the store is asked', async () => {
    await mark(RUN, 'correct');
    const set = await create();
    await pin(set);
    const [head, member] = (await exported(set)).split('\n');
    const message = refusal(await importFile([head, ...Array<string>(201).fill(member ?? '')].join('\n'))).message;
    expect(message).toBe('line 202: a golden set has at most 200 members');
  });

  test('a row of an execution that cannot be pinned is refused', async () => {
    await mark(RUN, 'correct');
    const set = await create();
    await pin(set);
    const file = await exported(set);
    await server.store.addReplay(2, { source: 'regression' });
    await server.store.addStep(runIdOf(2), 'look');
    await server.store.addRun(3);
    await server.store.addStep(runIdOf(3), 'look', { status: 'failed', primary_confidence: null });
    const rowOf = (run: string) => file.replaceAll('step-1', `${run}/look`).replaceAll(RUN, run);
    expect(refusal(await importFile(rowOf(runIdOf(2))))).toMatchObject({
      status: 400,
      message: expect.stringContaining('line 2: step_id: this is the result of a replay'),
    });
    expect(refusal(await importFile(rowOf(runIdOf(3)))).message).toContain('the step has no answer');
  });

  test('a row of another execution and a set of another step are refused', async () => {
    await mark(RUN, 'correct');
    const set = await create();
    await pin(set);
    const file = await exported(set);
    expect(refusal(await importFile(file.replace(RUN, runIdOf(7)))).message).toContain('another execution has this id');
    expect(refusal(await importFile(file.replaceAll('"look"', '"fix"')))).toMatchObject({ status: 409 });
  });
});
