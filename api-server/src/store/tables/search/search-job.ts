import { setTimeout as sleep } from 'node:timers/promises';
import type { Kysely } from 'kysely';
import type { Database } from '../../db/database.ts';
import { dialectOf } from '../../db/dialect.ts';
import { paced } from '../../db/paced.ts';
import type { Tables } from '../../db/schema.ts';
import { createDeclared, type ReadDeclared } from '../results/declared.ts';
import { narrowLarge } from '../bodies/keep-packed.ts';
import { repackSome } from '../bodies/repack.ts';
import { awaitsSearch, enterPortion, newestRun, nextPortion, searchedUpTo } from './index-runs.ts';

export interface SearchJobDeps {
  database: Pick<Database, 'db' | 'write'>;
  /** One of the processes that share a database does it. */
  leads(): boolean;
  log: { info(fields: object, msg: string): void; warn(fields: object, msg: string): void };
}

export interface SearchJob {
  start(): void;
  /** Resolves when nothing of it is under way. */
  stop(): Promise<void>;
}

const EVERY_MS = 1_000;
const SAY_EVERY_MS = 5_000;
/** From so many runs on the log says how far it is. */
const MANY = 5_000;

/** Makes runs findable beside the service, a few at a time, so that a delivery and a run pay nothing for it. */
export function createSearchJob({ database, leads, log }: SearchJobDeps): SearchJob {
  const closing = new AbortController();
  const { signal } = closing;
  const stored = storedUpTo(database.db);
  const readDeclared = createDeclared(database.db);
  let going: Promise<void> = Promise.resolve();

  const rounds = async () => {
    while (!signal.aborted) {
      let more = false;
      try {
        if (leads()) {
          await searchAll({ database, upTo: await stored(), log, signal, readDeclared });
          more = await repackRound({ database, log, signal, readDeclared });
          await narrowLarge({ database, log, signal });
        }
      } catch (error) {
        log.warn({ err: error }, 'new runs could not be made findable; lists read their rows meanwhile');
      }
      await sleep(more ? 0 : EVERY_MS, undefined, { signal, ref: false }).catch(() => undefined);
    }
  };
  return {
    start: () => void (going = rounds()),
    stop: () => {
      closing.abort();
      return going;
    },
  };
}

interface Round extends Pick<SearchJobDeps, 'database' | 'log'> {
  upTo: number;
  signal?: AbortSignal;
  readDeclared?: ReadDeclared;
}

/** Runs of one transaction, a few milliseconds of it. */
const PORTION = { most: 20, busy: 5 };

/** All runs up to `upTo`. */
export async function searchAll({
  database,
  upTo,
  log,
  signal,
  readDeclared = createDeclared(database.db),
}: Round): Promise<void> {
  if (!(await awaitsSearch(database.db, upTo))) return;
  let [done, said] = [0, Date.now()];
  await paced(
    async (most) => {
      const portion = await nextPortion(database.db, { upTo, most }, { readDeclared, log });
      const { runs, at, more } = await database.write((tx) => enterPortion(tx, portion));
      done += runs;
      if (more && Date.now() - said > SAY_EVERY_MS) {
        said = Date.now();
        log.info({ runs: done, runs_left: upTo - at }, 'making the runs of an older version findable');
      }
      return more;
    },
    PORTION,
    signal,
  );
  if (done > MANY) log.info({ runs: done }, 'made the runs of an older version findable');
}

/** Packs runs of an older version with their steps for some seconds; answers whether some are left. */
async function repackRound({ database, log, signal, readDeclared }: Required<Omit<Round, 'upTo'>>): Promise<boolean> {
  const upTo = await searchedUpTo(database.db);
  const until = Date.now() + SAY_EVERY_MS;
  let at: number | null = null;
  await paced(
    async (most) => {
      at = await repackSome(database, { upTo, most, readDeclared, log });
      return at !== null && Date.now() < until;
    },
    PORTION,
    signal,
  );
  if (at !== null) log.info({ runs_left: upTo - at }, 'packing the steps of the runs of an older version');
  return at !== null;
}

/**
 * Up to which `seq` no run can turn up any more. Processes that share a database commit in another order than they number: a
 * number holds once every transaction that had begun when it was read has ended.
 */
export function storedUpTo(db: Kysely<Tables>): () => Promise<number> {
  const { transactions } = dialectOf(db).searched;
  let settled = 0;
  let waiting: { seq: number; before: number } | null = null;
  return async () => {
    const seq = await newestRun(db);
    if (transactions === null) return seq;
    const numberOf = async (which: 'next' | 'oldest') => (await transactions[which].execute(db)).rows[0]?.number ?? 0;
    if (seq > settled) waiting ??= { seq, before: await numberOf('next') };
    if (waiting === null || (await numberOf('oldest')) < waiting.before) return settled;
    settled = waiting.seq;
    waiting = null;
    return settled;
  };
}
