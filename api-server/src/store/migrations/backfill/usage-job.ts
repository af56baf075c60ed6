import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../../db/database.ts';
import { paced } from '../../db/paced.ts';
import { lastMark } from '../../tables/marks.ts';
import { BACKFILL, completeSome } from './usage-backfill.ts';

export interface UsageJobDeps {
  database: Pick<Database, 'db' | 'write'>;
  /** One of the processes that share a database does it. */
  leads(): boolean;
  log: { info(fields: object, msg: string): void; warn(fields: object, msg: string): void };
}

export interface UsageJob {
  /** Resolves when it is known whether there is something to do. */
  start(): Promise<void>;
  /** Whether every row is complete. What packs and sums rows waits for that. */
  done(): boolean;
  /** Resolves when nothing of it is under way. */
  stop(): Promise<void>;
}

const EVERY_MS = 1_000;
const SAY_EVERY_MS = 5_000;
/** Runs of one transaction, about fifteen milliseconds of it. */
const PORTION = { most: 75, busy: 5 };
const DOING = 'completing the usage of steps of an older version';
const DONE = 'completed the usage of steps of an older version';

/** Completes the rows of an older version beside the service. It goes on where a process ended. */
export function createUsageJob({ database, leads, log }: UsageJobDeps): UsageJob {
  const closing = new AbortController();
  const { signal } = closing;
  let [going, done]: [Promise<void>, boolean] = [Promise.resolve(), false];
  const look = async (): Promise<boolean> => (done = (await lastMark(database.db, BACKFILL)) === null);
  const round = async (): Promise<boolean> => {
    try {
      if (leads()) await completeAll({ database, log, signal });
      return await look();
    } catch (error) {
      log.warn({ err: error }, 'the usage of steps of an older version could not be completed; it is tried again');
      return false;
    }
  };
  const rounds = async () => {
    while (!(await round()) && !signal.aborted)
      await sleep(EVERY_MS, undefined, { signal, ref: false }).catch(() => undefined);
  };
  return {
    start: async () => {
      if (!(await look())) going = rounds();
    },
    done: () => done,
    stop: () => {
      closing.abort();
      return going;
    },
  };
}

async function completeAll({
  database,
  log,
  signal,
}: Omit<UsageJobDeps, 'leads'> & { signal: AbortSignal }): Promise<void> {
  let [steps, changed, said] = [0, 0, Date.now()];
  await paced(
    async (most) => {
      const some = await database.write((tx) => completeSome(tx, most));
      if (some === null) return false;
      steps += some.steps;
      changed += some.changed;
      if (Date.now() - said > SAY_EVERY_MS) {
        said = Date.now();
        log.info({ steps, changed, runs_left: some.left }, DOING);
      }
      return true;
    },
    PORTION,
    signal,
  );
  if (steps > 0 && !signal.aborted) log.info({ steps, changed }, DONE);
}
