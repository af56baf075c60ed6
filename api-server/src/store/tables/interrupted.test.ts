import { expect, test } from 'vitest';
import { createWorld } from '../../runs/fixtures/engine.ts';
import { appendEvents } from './event-writes.ts';
import { readInterrupted } from './interrupted.ts';

const ASKS = `
name: asks
stage: production
steps:
  - {name: ask, executor: human, prompt_template: 'May it?', timeout_seconds: 60}
  - {name: look, executor: gateway, agent: a, prompt_template: go, output_schema: &schema {type: object, required: [cause]}}
  - {name: again, executor: gateway, agent: a, prompt_template: go, output_schema: *schema}
`;

test('runs that wait for a person are read with one definition for all, and with data that is unpacked where it is used', async () => {
  const world = await createWorld({ pipelines: [ASKS] });
  const metadata = { list: Array.from({ length: 1000 }, () => ({})) };
  for (let run = 0; run < 2; run++) await world.start('asks', { metadata });
  const found = await readInterrupted(world.database.db);
  const [one, other] = await Promise.all(found.map(({ read }) => read()));
  expect(one?.pipeline).toBe(other?.pipeline);
  expect(Object.getOwnPropertyDescriptor(one?.context, 'metadata')?.value).toBeUndefined();
  expect(one?.context).toMatchObject({ metadata, raw: null });
  await world.close();
});

test('equal parts of a definition that is read back are one in memory', async () => {
  const world = await createWorld({ pipelines: [ASKS] });
  await world.start('asks');
  const [found] = await readInterrupted(world.database.db);
  const { steps } = (await found?.read())?.pipeline ?? { steps: [] };
  const [, look, again] = steps as { output_schema?: object }[];
  expect(look?.output_schema).toEqual({ type: 'object', required: ['cause'] });
  expect(again?.output_schema).toBe(look?.output_schema);
  await world.close();
});

const EACH = `
name: each
stage: production
steps:
  - {name: all, fan_out: {over: "[${Array(40).fill(1).join()}]", max_items: 40, step: {executor: gateway, agent: a, prompt_template: go, when: "false"}}}
  - {name: ask, executor: human, prompt_template: 'May it?', timeout_seconds: 60}
`;

test('of a page of steps nothing is kept but their results before the next page is read', async () => {
  const world = await createWorld({ pipelines: [EACH] });
  await world.start('each');
  await expect.poll(() => world.approvals.countWaiting()).toBe(1);
  let read = 0;
  const readBefore: number[] = [];
  const watched = (row: object) =>
    'raw_response' in row
      ? Object.defineProperty({ ...row }, 'raw_response', { enumerable: true, get: () => ((read += 1), null) })
      : row;
  const db = world.database.db.withPlugin({
    transformQuery: ({ node }) => (JSON.stringify(node).includes('step_executions') && readBefore.push(read), node),
    transformResult: ({ result }) => Promise.resolve({ ...result, rows: result.rows.map(watched) as never }),
  });
  const [found] = await readInterrupted(db);
  const { steps = [] } = (await found?.read()) ?? {};
  expect(steps.map(({ stepName }) => stepName).slice(-2)).toEqual(['all', 'ask']);
  expect(readBefore[0]).toBe(0);
  expect(readBefore[1]).toBeGreaterThanOrEqual(32);
  await world.close();
});

test.each([
  ['', 'x'],
  [' of three-byte text', '語'],
])('of a log%s that is far too large the last events are read', async (_, sign) => {
  const world = await createWorld({ pipelines: [ASKS] });
  const id = await world.start('asks');
  await expect.poll(() => world.approvals.countWaiting()).toBe(1);
  const large = (seq: number) => ({ firstSeq: seq, json: JSON.stringify([{ seq, msg: sign.repeat(900_000) }]) });
  await world.database.write(async (tx) => {
    for (let seq = 101; seq <= 120; seq++) await appendEvents(tx, id, large(seq));
  });
  const [found] = await readInterrupted(world.database.db);
  expect((await found?.read())?.events.map(({ seq }) => seq)).toEqual([117, 118, 119, 120]);
  await world.close();
});
