import { expect, test } from 'vitest';
import type { ActiveRun } from '../state/active-run.ts';
import { heldView } from '../state/held.ts';
import { noFacts, plainAnswer, type Performed } from '../state/step-kind.ts';
import { createDailyBytes } from '../state/daily-bytes.ts';
import { StepResults, type StepView } from '../state/step-results.ts';
import type { Begun } from '../evidence/step-execution.ts';
import { type AnswerRoom, createAnswerRoom, withinRoom } from './answer-room.ts';
import { countUse } from './attempt-use.ts';

const OF_RUN = 100_000;
const runBelow = (parent: ActiveRun | null, namespace: string | null = 'shop') =>
  ({ parent, namespace, results: new StepResults(), answers: { size: 0, kept: new Map() } }) as unknown as ActiveRun;
const answered = (text: string): Performed => ({
  ok: true,
  answer: plainAnswer({ confidence: null, summary: null, output: { text } }),
  facts: noFacts({ prompt: 'asked' }),
});
/** What it counted for is stored with it. */
const charged = (said: Performed, size: number) => ({
  ...said,
  facts: { ...noFacts({}), raw: { prompt: 'asked', charged: size } },
});
const withNames = (count: number): Performed => ({
  ...answered(''),
  answer: plainAnswer({
    confidence: null,
    summary: null,
    output: Object.fromEntries(Array.from({ length: count }, (_, at) => [`n${at}`, { [`m${at}`]: 1 }])),
  }),
});
const view = (text: string): StepView =>
  heldView({
    status: 'completed',
    summary: null,
    confidence: null,
    trust: null,
    output: { text },
    next_step_context: null,
  });

test('what sub-runs answer counts for the run above until they end, and one that ended holds nothing', () => {
  const room = createAnswerRoom(OF_RUN, OF_RUN, () => null);
  const top = runBelow(null);
  const [first, second] = [runBelow(top), runBelow(top)];
  const large = answered('x'.repeat(60_000));
  expect(withinRoom(room, { run: first, name: 'a' }, large)).toEqual(charged(large, first.answers.size));
  expect(withinRoom(room, { run: second, name: 'a' }, large)).toEqual({
    ok: false,
    type: 'output_invalid',
    message: expect.stringContaining('start fewer sub-runs at once'),
    retryable: false,
    facts: { ...noFacts({}), raw: { prompt: 'asked' } },
  });
  room.drop(first);
  expect(withinRoom(room, { run: second, name: 'a' }, large)).toMatchObject({ ok: true });
});

test('names of an answer that its objects do not share count as what they take', () => {
  const room = createAnswerRoom(OF_RUN, OF_RUN, () => null);
  expect(withinRoom(room, { run: runBelow(null), name: 'a' }, withNames(200)).ok).toBe(true);
  expect(withinRoom(room, { run: runBelow(null), name: 'a' }, withNames(400))).toMatchObject({ ok: false });
});

test('an answer that is kept counts as what it takes in memory, and one of a further iteration in its place', () => {
  const room = createAnswerRoom(OF_RUN, OF_RUN, () => null);
  const run = runBelow(null);
  const text = 'x'.repeat(60_000);
  for (let iteration = 0; iteration < 3; iteration++)
    expect(withinRoom(room, { run, name: 'a' }, answered(text)).ok).toBe(true);
  run.results.set('a', view(text));
  room.note(run, 'a');
  expect(run.answers.kept.get('a')).toBeLessThan(1_000);
  const many = JSON.parse(`[${'{},'.repeat(120)}{}]`) as unknown;
  run.results.set('b', heldView({ ...view(''), output: { many } }));
  room.note(run, 'b');
  expect(run.answers.kept.get('b')).toBeGreaterThan(10_000);
});

test('what is over the bytes of a day is refused, and said so; what people decide is not', () => {
  const room = createAnswerRoom(
    OF_RUN,
    OF_RUN,
    createDailyBytes(() => 10_000, Date.now),
  );
  const take = (text: string) => withinRoom(room, { run: runBelow(null), name: 'a' }, answered(text));
  expect([take('x'.repeat(8_000)).ok, take('x'.repeat(3_000))]).toEqual([
    true,
    expect.objectContaining({ type: 'daily_bytes' }),
  ]);
  expect(take('yes').ok).toBe(true);
});

test('attempts of a step count together, but for one that is refused', () => {
  const run = runBelow(null);
  const begun = { row: { executor: 'webhook' }, facts: null } as unknown as Begun;
  const take = (room: AnswerRoom, text: string) =>
    countUse(() => null, begun, withinRoom(room, { run, name: 'a' }, answered(text)));
  for (const text of ['x', 'y'])
    take(
      createAnswerRoom(OF_RUN, OF_RUN, () => null),
      text,
    );
  const { size } = run.answers;
  expect(begun.facts?.raw.charged).toBe(size);
  take(
    createAnswerRoom(1, 1, () => null),
    'x'.repeat(2_000),
  );
  expect(begun.facts?.raw.charged).toBe(size);
});

test('where there is no room, what people decide has some', () => {
  const room = createAnswerRoom(1, 1, () => null);
  expect(withinRoom(room, { run: runBelow(null), name: 'a' }, answered('yes')).ok).toBe(true);
  expect(withinRoom(room, { run: runBelow(null), name: 'a' }, answered('x'.repeat(2_000))).ok).toBe(false);
});

test('a run that goes on after a restart counts again, or does not go on', () => {
  const room = createAnswerRoom(30_000, 30_000, () => null);
  const text = Array.from({ length: 4_000 }, (_, at) => at * at).join();
  const resumed = () => {
    const run = runBelow(null);
    run.results.set('a', view(text));
    return room.restore(run);
  };
  const went = Array.from({ length: 20 }, resumed);
  expect(went[0]).toBe(true);
  expect(went.at(-1)).toBe(false);
  expect(room.isFull('shop')).toBe(true);
  expect(room.isFull('bank')).toBe(false);
});

test('the results of a run count beside what they say, and a run with little of it goes on after a restart all the same', () => {
  const room = createAnswerRoom(OF_RUN, OF_RUN, () => null);
  const run = runBelow(null);
  for (let at = 0; at < 800; at++) {
    run.results.set(`each/${at}`, view('yes'));
    room.note(run, `each/${at}`);
  }
  expect(room.isFull('shop')).toBe(true);
  expect(room.isFull('bank')).toBe(false);
  const small = runBelow(null);
  for (const name of ['a', 'b', 'c']) small.results.set(name, view('yes'));
  expect(room.restore(small)).toBe(true);
  room.drop(run);
  room.drop(small);
  expect(room.isFull('shop')).toBe(false);
});

test('names of artifacts count with an answer, their texts for the day, and the trace of earlier attempts as long as the step goes on', () => {
  const room = createAnswerRoom(
    OF_RUN,
    OF_RUN,
    createDailyBytes(() => 50_000, Date.now),
  );
  const top = runBelow(null);
  const plain = plainAnswer({ confidence: null, summary: null, output: {} });
  const leaves = (artifactTexts: Record<string, string>): Performed => ({
    ok: true,
    answer: { ...plain, artifacts: Object.keys(artifactTexts), artifactTexts },
    facts: noFacts({}),
  });
  const take = (texts: Record<string, string>) => withinRoom(room, { run: top, name: 'a' }, leaves(texts));
  expect([take({ short: 'x'.repeat(60_000) }), take({ ['x'.repeat(120_000)]: '' })]).toMatchObject([
    { type: 'daily_bytes' },
    { type: 'output_invalid' },
  ]);
  const facts = noFacts({ trace: ['x'.repeat(90_000)] });
  expect(withinRoom(room, { run: top, name: 'a', facts }, answered('x'.repeat(5_000))).ok).toBe(true);
  expect(withinRoom(room, { run: top, name: 'a', facts }, answered('x'.repeat(15_000)))).toMatchObject({
    type: 'output_invalid',
  });
});

test('each artifact counts as the file that it is, for the day and among the answers of its run', () => {
  const room = createAnswerRoom(
    OF_RUN,
    OF_RUN,
    createDailyBytes(() => 100 * 2 ** 20, Date.now),
  );
  const plain = plainAnswer({ confidence: null, summary: null, output: {} });
  const artifactTexts = Object.fromEntries(Array.from({ length: 50 }, (_, at) => [String(at), 'x']));
  const facts = noFacts({});
  const answer = { ...plain, artifacts: Object.keys(artifactTexts), artifactTexts };
  const first = runBelow(null);
  const takenBy = (run: ActiveRun) => {
    for (let step = 0; ; step++) {
      const taken = withinRoom(room, { run, name: 'a' }, { ok: true, answer, facts });
      if (!taken.ok) return { files: step * 50, why: taken.message };
    }
  };
  expect(takenBy(first)).toEqual({ files: 4_050, why: expect.stringContaining('4 KiB for each artifact') });
  const next = takenBy(runBelow(null));
  expect(next).toMatchObject({ why: expect.stringContaining('daily_bytes') });
  expect(4_050 + next.files).toBeLessThan(6_400);
});
