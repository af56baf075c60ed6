import { expect, test } from 'vitest';
import { wireArtifacts } from './artifacts.ts';
import type { Database } from '../../store/db/database.ts';

const embedded = {} as Database;
const shared = { writeAs: () => undefined } as unknown as Database;
const inFolder = { artifacts: { dir: '/tmp', retentionDays: 7 } };
const withoutFolder = { artifacts: { dir: null, retentionDays: 7 } };

test.each([
  ['without the block nothing is kept, in whatever database', { artifacts: null }, [embedded, shared], false],
  ['with a folder they are kept', inFolder, [embedded, shared], true],
  ['without a folder they are kept in a database that processes share', withoutFolder, [shared], true],
])('%s', (_, config, databases, kept) => {
  for (const database of databases) expect(wireArtifacts(config, database) !== null).toBe(kept);
});
