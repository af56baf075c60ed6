import type { Membership, Renewal } from '../store/db/membership.ts';

/** After so long without a word from a replica its runs go to others (Design 8). */
export const LEASE_MS = 10_000;

export interface ReplicaDeps {
  membership: Membership;
  leaseMs: number;
  /** From now on the store writes under this epoch, or not at all. */
  writeAs(epoch: number | 'none'): void;
  /** Takes runs of nobody, at most so many; answers their ids. */
  claim(limit: number): Promise<string[]>;
  takeUp(runIds: string[]): Promise<void>;
  /** Makes all runs of this process nobody's. */
  release(): Promise<void>;
  /** Stops all runs of this process where they are. */
  letGo(): Promise<void>;
  /** Runs that could begin at once. */
  room(): number;
  /** Cancels the runs of this process that others were asked to cancel. */
  cancelAsked(epoch: number): Promise<void>;
  /** Whether this process is the one that does what must be done once. */
  lead(leads: boolean): void;
  /** Another process changed definitions. */
  definitionsChanged(mark: number | null): void;
  /** Milliseconds of a clock that only goes forward. */
  monotonic(): number;
  log: { info(fields: object, msg: string): void; warn(fields: object, msg: string): void };
  /** False in the test that shows what leases are for. */
  fenced: boolean;
}

export interface Replica {
  /** Enters and begins to renew its lease; resolves when the runs that were nobody's are on their way. */
  start(): Promise<void>;
  /** Something is to do: looks at once instead of at the next round. */
  soon(): void;
  /** A run is nobody's. */
  work(): void;
  /** Here is room for a run. */
  room(): void;
  /**
   * False once the lease may be over; its runs are let go then. A process that stood still asks this before its timer can
   * say so.
   */
  holds(): boolean;
  /** Takes no more runs; resolves when those that it just took are on their way. */
  retire(): Promise<void>;
  /** Gives the runs that this process has stopped to others, at once. */
  handOver(): Promise<void>;
  /** Leaves; nothing is stored under its epoch any more. */
  stop(): Promise<void>;
}

/** A look at what is nobody's, this often; words of others make it sooner. */
const BEATS = 5;
/** A lease ends here before it ends for others, by this part of it: nobody takes over what still runs. */
const MARGIN = 0.2;
const SOON_MS = 10;
const HANDED_OVER_LATE = 'its runs are handed over once its lease is over';

/** Runs `job` at most once at a time; a call meanwhile makes it run once more. Never rejects. */
function oneAtATime(job: () => Promise<void>, failed: (error: unknown) => void) {
  let running: Promise<void> | null = null;
  let again = false;
  const rounds = async () => {
    do {
      again = false;
      await job().catch(failed);
    } while (again);
  };
  return (): Promise<void> => {
    again = running !== null;
    running ??= rounds().finally(() => (running = null));
    return running;
  };
}

/** Keeps this process a member of those that share a database, and gives it runs while it has room. */
export function createReplica(deps: ReplicaDeps): Replica {
  const { membership, leaseMs, log } = deps;
  let epoch: number | null = null;
  let before: number | null = null;
  let lettingGo: Promise<void> = Promise.resolve();
  let until = Infinity;
  let retired = false;
  let stopped = false;
  /** Runs were nobody's at the last look. */
  let backlog = false;
  let seen: Pick<Renewal, 'work' | 'dead' | 'cancellations'> = { work: false, dead: false, cancellations: false };
  let trouble = false;
  let timer: NodeJS.Timeout | undefined;
  let end: NodeJS.Timeout | undefined;
  let soon: NodeJS.Timeout | undefined;
  /** Claimed and not taken up yet. */
  const claimed = new Set<string>();

  const hold = (since: number) => {
    clearTimeout(end);
    if (!deps.fenced) return;
    until = since + leaseMs * (1 - MARGIN);
    end = setTimeout(() => lose('could not renew its lease'), Math.max(0, until - deps.monotonic()));
  };
  /** Nothing of this process is stored from here on, and nothing of it goes on. */
  const lose = (why: string) => {
    if (epoch === null || !deps.fenced) return;
    log.warn({ epoch }, `this replica ${why}; its runs are let go`);
    clearTimeout(end);
    deps.writeAs('none');
    deps.lead(false);
    before = epoch;
    epoch = null;
    until = -Infinity;
    claimed.clear();
    lettingGo = deps.letGo();
  };
  const join = async () => {
    await lettingGo;
    const since = deps.monotonic();
    epoch = await membership.join(before);
    before = null;
    hold(since);
    deps.writeAs(epoch);
    log.info({ epoch }, 'this replica has its place among those that share the database');
  };
  const beat = async () => {
    if (stopped) return;
    if (epoch === null) await join();
    const [held, since] = [epoch, deps.monotonic()];
    if (held === null) return;
    const renewal = await membership.renew(held);
    if (epoch !== held) return;
    if (renewal === null) return lose('was taken for dead');
    // Some of its runs may have stopped by themselves meanwhile.
    if (since + leaseMs * (1 - MARGIN) <= deps.monotonic() || deps.monotonic() >= until)
      return lose('renewed its lease too late');
    hold(since);
    trouble = false;
    seen = renewal;
    backlog = renewal.work;
    deps.lead(renewal.leads);
    deps.definitionsChanged(renewal.definitions);
  };
  /** Not a part of the beat: a claim may wait for locks, a lease may not. */
  const takeRuns = async () => {
    const { work, dead, cancellations } = seen;
    if (epoch === null) return;
    if ((work || dead) && !retired) {
      for (const id of await deps.claim(Math.max(0, deps.room()))) claimed.add(id);
      const ids = [...claimed];
      if (ids.length > 0) await deps.takeUp(ids);
      for (const id of ids) claimed.delete(id);
    }
    if (cancellations || work) await deps.cancelAsked(epoch);
  };
  const failed = (error: unknown) => {
    if (!trouble) log.warn({ err: error }, 'this replica cannot look after its lease or its runs; trying again');
    trouble = true;
  };
  const renewing = oneAtATime(beat, failed);
  const taking = oneAtATime(takeRuns, failed);
  const look = async () => {
    await renewing();
    if (!stopped) await taking();
  };
  const lookSoon = () => {
    if (stopped) return;
    soon ??= setTimeout(() => {
      soon = undefined;
      void look();
    }, SOON_MS);
  };

  return {
    start: async () => {
      await join();
      await look();
      timer = setInterval(() => void look(), leaseMs / BEATS);
    },
    soon: lookSoon,
    work: () => {
      backlog = true;
      if (deps.room() > 0) lookSoon();
    },
    room: () => {
      if (backlog) lookSoon();
    },
    holds: () => {
      if (deps.monotonic() >= until) lose('stood still past its lease');
      return epoch !== null;
    },
    retire: async () => {
      retired = true;
      await taking();
    },
    handOver: async () => {
      await deps.release().catch((error: unknown) => log.warn({ err: error }, HANDED_OVER_LATE));
    },
    stop: async () => {
      stopped = true;
      clearInterval(timer);
      clearTimeout(soon);
      await Promise.all([renewing(), taking()]);
      clearTimeout(end);
      const last = epoch ?? before;
      epoch = null;
      if (last !== null)
        await membership.leave(last).catch((error: unknown) => log.warn({ err: error }, HANDED_OVER_LATE));
      await membership.close();
    },
  };
}
