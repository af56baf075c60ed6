import { expect, inject, test } from 'vitest';
import { connectionSettings, openSession } from '../../db/postgres-connection.ts';
import { newPostgresDatabase } from '../../fixtures/test-database.ts';
import { storedUpTo } from './search-job.ts';

const COLUMNS = `(id, pipeline_name, definition_hash, source, status, stage, triggered_at, input_tokens, output_tokens, unpriced_steps, context)`;
const insert = (id: string) =>
  `INSERT INTO runs ${COLUMNS} VALUES ('${id}', 'disk', 'h', 'generic', 'running', 'production', 1, 0, 0, 0, '{}')`;

test('a run that another process numbered earlier and stores later is waited for', async () => {
  const site = await newPostgresDatabase(inject('postgres') ?? '');
  const database = await site.open();
  const url = 'url' in site.location ? site.location.url : '';
  const [slow, quick] = await Promise.all(
    [1, 2].map(() => openSession(connectionSettings(url, { statement: 0, lock: 0 }))),
  );
  try {
    const stored = storedUpTo(database.db);
    expect(await stored()).toBe(0);
    await slow?.query({ text: 'BEGIN' });
    await slow?.query({ text: insert('first') });
    await quick?.query({ text: insert('second') });
    expect(await stored()).toBe(0);
    expect(await stored()).toBe(0);
    await slow?.query({ text: 'COMMIT' });
    await expect.poll(stored).toBe(2);
    await quick?.query({ text: insert('third') });
    await expect.poll(stored).toBe(3);
  } finally {
    await Promise.all([slow?.end(), quick?.end()]);
    await database.close();
    await site.remove();
  }
});
