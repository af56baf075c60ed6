import { expect, test } from 'vitest';
import { createWorld } from '../../runs/fixtures/engine.ts';
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
