import { AppError } from '@signalbox/crds';
import { expect, test } from 'vitest';
import { pagesWith } from '../fixtures/pages-with.ts';
import { runLine } from '../fixtures/runs.ts';

const entryOf = (name: string) => ({ name, file: `${name}.yaml`, text: '', hash: 'h', config: { steps: [] } });
const definitions = { pipelines: ['host-load', 'disk-check'].map(entryOf) };
const lines = ['failed', ...Array.from({ length: 20 }, () => 'completed')].map((status, at) =>
  runLine({ id: `r${at}`, status: status as 'failed', pipeline_name: 'host-load' }),
);

test('each pipeline of the list shows how its last runs stand, the newest at the end', async () => {
  const { get } = await pagesWith({ lines, definitions });
  const { body } = await get('/ui/pipelines');
  const [bars, ...others] = body.match(/<span class="run-bars" .*<\/span>/g) ?? [];
  expect(others).toEqual([]);
  expect(bars).toContain('aria-label="Last runs: 11 completed, 1 failed"');
  expect(bars?.match(/tone-\w+/g)?.slice(-2)).toEqual(['tone-good', 'tone-bad']);
});

test('the list is there without them while they cannot be read', async () => {
  const { get, deps } = await pagesWith({ lines, definitions });
  deps.runs.lastOf = async () => {
    throw new AppError('unavailable', 'too much is asked for at once');
  };
  const { statusCode, body } = await get('/ui/pipelines');
  expect([statusCode, body.includes('host-load'), body.includes('Last runs')]).toEqual([200, true, false]);
});
