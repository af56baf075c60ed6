import { expect, test } from 'vitest';
import { newTestDatabase } from '../../fixtures/test-database.ts';
import { closeDays } from '../daily/close-days.ts';
import { evidenceRead, recountEvidence } from '../fixtures/evidence.ts';
import { NOW, randomHistory, storeRun } from '../fixtures/random-history.ts';
import { packEvidence } from './pack-evidence.ts';

const never = new AbortController().signal;

test('parts that an earlier version packed in another form are not read, and are packed once more', async () => {
  const site = await newTestDatabase();
  const database = await site.open({ now: () => NOW });
  const history = randomHistory(7, 30);
  const of = { pipeline: 'checkout', stage: 'production' } as const;
  const old = { pipeline_name: of.pipeline, stage: of.stage, part: 0, body: Buffer.from('another form') };
  try {
    for (const run of history) await storeRun(database, run);
    await closeDays({ database, now: NOW, signal: never });
    await database.write(async ({ db }) => {
      const runs = history.filter((run) => run.pipeline === of.pipeline && run.stage === of.stage && !run.isReplay);
      const days = new Set(runs.map(({ triggeredAt }) => triggeredAt - (triggeredAt % 86_400_000)));
      for (const day of days)
        await db
          .insertInto('packed_evidence')
          .values({ ...old, day })
          .execute();
    });
    expect(await evidenceRead(database.db, of)).toEqual(recountEvidence(history, of));
    expect(await packEvidence({ database, signal: never })).toBeGreaterThan(5);
    expect(await evidenceRead(database.db, of)).toEqual(recountEvidence(history, of));
  } finally {
    await database.close();
    await site.remove();
  }
});
