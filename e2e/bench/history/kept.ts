import { existsSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Database, DatabaseLocation } from '../../../api-server/src/store/db/database.ts';
import { openDatabase } from '../../../api-server/src/store/db/open-database.ts';
import { checkRollUps } from '../../../api-server/src/store/aggregates/roll-up-check.ts';
import { startPostgres } from '../../../api-server/src/store/fixtures/postgres-server.ts';
import { migrations } from '../../../api-server/src/store/migrations/index.ts';
import { closeDays } from '../../../api-server/src/store/aggregates/daily/close-days.ts';
import { countPrompts } from '../../../api-server/src/store/aggregates/daily/prompt-days.ts';
import { packEvidence } from '../../../api-server/src/store/aggregates/evidence/pack-evidence.ts';
import { noteUses } from '../../../api-server/src/store/aggregates/uses/label-uses.ts';
import { packDays } from '../../../api-server/src/store/aggregates/uses/pack-days.ts';
import { giveBackPages } from '../../../api-server/src/store/tables/retention/free-pages.ts';
import { createDeclared } from '../../../api-server/src/store/tables/results/declared.ts';
import { enterPortion, newestRun, nextPortion } from '../../../api-server/src/store/tables/search/index-runs.ts';
import { askServer } from './ask-server.ts';
import { makeHistory } from './make-history.ts';

const DAY_MS = 86_400_000;
/** Where made histories stay between two runs of this program. */
export const KEPT = join(tmpdir(), 'signalbox-bench-history');
const SCHEMA = migrations.at(-1)?.id.slice(0, 4) ?? '';

export interface Wanted {
  kind: 'sqlite' | 'postgres';
  steps: number;
  seed: number;
}

/** A history on the disk; `directory` also holds its definitions. */
export interface History extends AsyncDisposable {
  directory: string;
  location: DatabaseLocation;
  /** The process whose family does the work of the database; null where the service does it. */
  server: number | null;
}

/** The history of this seed, size, schema and day, made where there is none. It ends at the last midnight (UTC). */
export async function openHistory({ kind, steps, seed }: Wanted): Promise<History> {
  const now = Date.now();
  const until = now - (now % DAY_MS);
  const day = new Date(until).toISOString().slice(0, 10);
  const name = `${kind}-${steps}-seed${seed}-schema${SCHEMA}-`;
  const directory = join(KEPT, name + day);
  const complete = existsSync(join(directory, 'complete'));
  // Those of other days go: one of 1,000,000 steps takes several GB.
  if (!complete) for (const old of madeBefore(name)) rmSync(join(KEPT, old), { recursive: true });
  mkdirSync(directory, { recursive: true });
  const place = kind === 'sqlite' ? onDisk(directory) : await onServer(directory);
  try {
    if (!complete) {
      await make(place.location, { steps, seed, until }, directory);
      writeFileSync(join(directory, 'complete'), '');
    }
    return { directory, ...place };
  } catch (error) {
    await place[Symbol.asyncDispose]();
    throw error;
  }
}

const madeBefore = (name: string): string[] =>
  existsSync(KEPT) ? readdirSync(KEPT).filter((entry) => entry.startsWith(name)) : [];

type Place = Omit<History, 'directory'>;

const onDisk = (directory: string): Place => ({
  location: { file: join(directory, 'service.db') },
  server: null,
  [Symbol.asyncDispose]: () => Promise.resolve(),
});

/** Settings of a small server; the defaults are for a machine of 1 GB. */
const SETTINGS = ['shared_buffers=512MB', 'work_mem=16MB', 'maintenance_work_mem=128MB', 'max_wal_size=4GB'];

async function onServer(directory: string): Promise<Place> {
  const server = await startPostgres({
    durable: false,
    kept: { folder: join(directory, 'cluster'), settings: SETTINGS },
  });
  return {
    location: { url: server.url('postgres') },
    server: server.pid(),
    [Symbol.asyncDispose]: () => server.stop('fast'),
  };
}

const open = (location: DatabaseLocation): Promise<Database> =>
  openDatabase({ ...location, autoMigrate: true, now: () => Date.now(), synchronous: 'NORMAL' });

async function make(
  location: DatabaseLocation,
  size: { steps: number; seed: number; until: number },
  directory: string,
): Promise<void> {
  const database = await open(location);
  try {
    const started = performance.now();
    const seconds = (): string => ((performance.now() - started) / 1000).toFixed(0);
    let said = 0;
    let vacuumed = 0;
    const runs = await makeHistory(database, size, {
      directory,
      // A service packs the texts of a run within seconds of its end, and autovacuum comes after a fifth of a table has changed.
      progress: async (done) => {
        await makeFindable(database);
        if ('url' in location && done - vacuumed > vacuumed / 5) {
          vacuumed = done;
          await askServer(location.url, 'VACUUM (ANALYZE)');
        }
        if (done - said < 20_000) return;
        said = done;
        console.log(`  ${done.toLocaleString('en')} runs after ${seconds()} s`);
      },
    });
    const shortfalls = await checkRollUps(database.db, {});
    if (shortfalls === null || shortfalls.length > 0)
      throw new Error(`the roll-ups are behind the rows: ${JSON.stringify(shortfalls?.slice(0, 5))}`);
    await settle(database);
    // What autovacuum does of itself within a few minutes: here it would do it beside the questions.
    if ('url' in location) await askServer(location.url, 'VACUUM (ANALYZE)');
    console.log(`  made ${runs.toLocaleString('en')} runs in ${seconds()} s; the roll-ups agree with the rows`);
  } finally {
    await database.close();
  }
}

/** What the service does with a history in the background; questions that come before it is done take longer ways. */
async function settle(database: Database): Promise<void> {
  await makeFindable(database);
  const signal = AbortSignal.timeout(3_600_000);
  const days = await closeDays({ database, now: Date.now(), signal });
  await countPrompts({ database, signal });
  await packEvidence({ database, signal });
  await packDays({ database, signal });
  await noteUses({ database, signal });
  const pages = database.giveBack ? await giveBackPages(database.giveBack) : 0;
  console.log(`  summed ${days} days, gave back ${pages} pages`);
}

/** Runs of one transaction. */
const PORTION = 100;

/** As the background job does it, without its rests. */
async function makeFindable({ db, write }: Database): Promise<void> {
  const upTo = await newestRun(db);
  const log = { warn: (fields: object, message: string) => console.error(message, fields) };
  const context = { readDeclared: createDeclared(db), log };
  for (let more = true; more;) {
    const portion = await nextPortion(db, { upTo, most: PORTION }, context);
    ({ more } = await write((tx) => enterPortion(tx, portion)));
  }
}

/** Size of the database with its indexes. */
export async function bytesOf({ location }: History): Promise<number> {
  if ('file' in location) return statSync(location.file).size;
  const [size] = await askServer(location.url, 'SELECT pg_database_size(current_database()) AS bytes');
  return (size as { bytes: number }).bytes;
}
