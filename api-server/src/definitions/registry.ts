import { AppError, createResolveMemo, passingLimit, resolveSetInTurns, type Resting } from '@signalbox/crds';
import { setImmediate } from 'node:timers/promises';
import { sweepTemporary } from './definition-files.ts';
import type { NameHolders } from './name-holders.ts';
import { type Folders, type Read, readAll, sameRead } from './read-all.ts';
import type { KnownTexts } from './read-folder.ts';
import { isError, type Resolve, resolveRead, type ResolveOptions, type Trial } from './resolve-read.ts';
import type { Snapshot } from './snapshot.ts';

export interface RegistryOptions extends Folders, Omit<ResolveOptions, 'memo' | 'heldBy'> {
  /** Reads and checks large definitions in a thread; without it, they are in turns of their own. */
  work?: Resting['work'];
  /** Who had the names of definitions last; without it a name that is free is anybody's. */
  names?: NameHolders | null;
}

/** The input of one change: the folders as they are now, and a way to resolve edited ones. */
export interface Turn {
  read: Read;
  before: Snapshot;
  tryOut(trial: Trial): Promise<Snapshot>;
}

/** The result of a change: `adopt` is the new content of the folders, null where nothing changed. */
export interface TurnResult<T> {
  result: T;
  adopt: { read: Read; snapshot: Snapshot } | null;
}

export interface Registry {
  current(): Snapshot;
  /** Whether large definitions are left out that the start did not wait for; the next reload reads them. */
  isPartial(): boolean;
  /** Reads all folders; a definition with errors stays as it last loaded. */
  reload(): Promise<Snapshot>;
  /** Reads the folders as they are now, also while a change is in progress. */
  look(): Promise<Turn>;
  /** Changes the folders and the snapshot. Changes and reloads never overlap. */
  change<T>(job: (turn: Turn) => Promise<TurnResult<T>>): Promise<T>;
}

/** Limit of changes that wait. */
const MAX_WAITING = 256;

/** Reads the definition folders into one snapshot, which is replaced as a whole. */
export async function createRegistry(given: RegistryOptions): Promise<Registry> {
  const options = { ...given, memo: createResolveMemo(), heldBy: given.names?.heldBy };
  const lastGood = new Map<string, string>();
  const texts: KnownTexts = new Map();
  for (const folder of [options.pipelineDir, options.stepDir]) {
    if (folder !== null) await sweepTemporary(folder, options.now());
  }
  const inTurnsBy =
    (work: Resting['work']): Resolve =>
    (input, memo) =>
      resolveSetInTurns(input, memo, { rest: setImmediate, ...(work && { work }) });
  const resolved = (trial: Trial, resolve = inTurnsBy(given.work)) =>
    resolveRead({ ...options, resolve }, trial, lastGood);
  const load = async (workFor: (read: Read) => Resting['work']) => {
    const read = await readAll(options, texts);
    return { read, snapshot: await resolved({ read }, inTurnsBy(workFor(read))) };
  };
  const first = withinStart(given.work);
  let known = await load(first.workFor);
  const adopt = async (next: typeof known) => {
    remember(next.snapshot, next.read, lastGood);
    known = next;
    await given.names?.keep(next.read, next.snapshot);
  };
  await adopt(known);
  const look = async (): Promise<Turn> => {
    const read = await readAll(options, texts).catch((cause: unknown) => {
      throw new AppError('unavailable', 'the definitions cannot be read; nothing was changed', { cause });
    });
    const before = sameRead(read, known.read) ? known.snapshot : await resolved({ read });
    return { read, before, tryOut: (trial) => resolved(trial) };
  };
  const inTurn = createTurns();
  return {
    current: () => known.snapshot,
    isPartial: first.isPartial,
    reload: () =>
      inTurn(async () => {
        await adopt(await load(() => given.work));
        return known.snapshot;
      }),
    look,
    change: (job) =>
      inTurn(async () => {
        const { result, adopt: next } = await job(await look());
        if (next !== null) await adopt(next);
        return result;
      }),
  };
}

/** How long the start waits for large definitions: nothing answers before it, and a cluster ends what starts too slowly. */
const START_MS = 20_000;

/** Of that, what objects of other namespaces than the release's may take: the operator's pipelines are there when alerts come. */
const START_MS_OF_OTHERS = 10_000;

function withinStart(work: Resting['work']) {
  let left = START_MS;
  let leftOfOthers = START_MS_OF_OTHERS;
  let isPartial = false;
  const timed =
    (inner: NonNullable<typeof work>, { home }: Read): typeof work =>
    async (ahead) => {
      const { namespace } = ahead.work.source;
      const isOthers = namespace !== undefined && namespace !== home;
      if (left <= 0 || (isOthers && leftOfOthers <= 0)) {
        isPartial = true;
        return passingLimit('the start does not wait longer for large definitions');
      }
      const began = performance.now();
      const done = await inner(ahead);
      const took = performance.now() - began;
      left -= isOthers ? Math.min(took, leftOfOthers) : took;
      if (isOthers) leftOfOthers -= took;
      return done;
    };
  return { workFor: (read: Read) => work && timed(work, read), isPartial: () => isPartial };
}

/** Runs jobs one after the other, in the order of the calls. */
function createTurns(): <T>(job: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  let waiting = 0;
  return async (job) => {
    if (waiting >= MAX_WAITING)
      throw new AppError('unavailable', 'too many changes of definitions are waiting; try again');
    waiting++;
    const mine = last.then(job).finally(() => waiting--);
    last = mine.catch(() => undefined);
    return mine;
  };
}

function remember({ problems }: Snapshot, read: Read, lastGood: Map<string, string>): void {
  const broken = new Set(problems.filter(isError).map(({ file }) => file));
  const present = new Set([...read.pipelines, ...read.steps].map(({ file }) => file));
  for (const file of lastGood.keys()) if (!present.has(file)) lastGood.delete(file);
  for (const { file, text } of [...read.pipelines, ...read.steps]) if (!broken.has(file)) lastGood.set(file, text);
}
