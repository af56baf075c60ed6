import type { Membership, Renewal } from '../store/db/membership.ts';

/** Lease of a replica: when it is not renewed for this long, other replicas take over its runs. */
export const LEASE_MS = 10_000;

export interface ReplicaDeps {
  membership: Membership;
  leaseMs: number;
  /** Sets the epoch of all further writes; `'none'` refuses them. */
  writeAs(epoch: number | 'none'): void;
  /** Claims at most `limit` runs without an owner; returns their ids. */
  claim(limit: number): Promise<string[]>;
  takeUp(runIds: string[]): Promise<void>;
  /** Releases the ownership of all runs of this process. */
  release(): Promise<void>;
  /** Stops all runs of this process; another replica continues them. */
  stopRuns(): Promise<void>;
  /** Free slots for runs. */
  room(): number;
  /** Cancels the runs of this process whose cancellation another replica was asked for. */
  cancelAsked(epoch: number): Promise<void>;
  /** Whether this process is the leader. */
  lead(leads: boolean): void;
  /** Reports the change mark of the definitions; a new one means that another replica changed them. */
  definitionsChanged(mark: number | null): void;
  /** Milliseconds of a monotonic clock. */
  monotonic(): number;
  log: { info(fields: object, msg: string): void; warn(fields: object, msg: string): void };
  /** False in the test that proves that the lease is needed. */
  fenced: boolean;
}

export interface Replica {
  /** Takes a lease and starts to renew it; resolves when the first runs without an owner are claimed. */
  start(): Promise<void>;
  /** Renews and checks at once instead of at the next interval. */
  soon(): void;
  /** A run without an owner was announced. */
  work(): void;
  /** A slot became free. */
  room(): void;
  /**
   * False once the lease may have expired; the runs are then released. A process that was paused must call this, because
   * its timer has not fired yet.
   */
  holds(): boolean;
  /** Claims no more runs; resolves when the runs that were just claimed are started. */
  retire(): Promise<void>;
  /** Releases the stopped runs of this process, so that other replicas can claim them at once. */
  handOver(): Promise<void>;
  /** Gives the lease up; nothing is stored under its epoch after this. */
  stop(): Promise<void>;
}

/** Renewals per lease. Each one also looks for runs without an owner; announcements trigger it earlier. */
const BEATS = 5;
/** The owner treats its lease as expired this part of it earlier than the others do, so that no run has two owners. */
const MARGIN = 0.2;
const SOON_MS = 10;
const HANDED_OVER_LATE = 'its runs are handed over when its lease expires';

/** Runs `job` at most once at a time; a call during a run causes one more run. Never rejects. */
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

/** Renews the lease of this replica and claims runs while it has free slots. */
export function createReplica(deps: ReplicaDeps): Replica {
  const { membership, leaseMs, log } = deps;
  let epoch: number | null = null;
  let before: number | null = null;
  let runsStopped: Promise<void> = Promise.resolve();
  let until = Infinity;
  let retired = false;
  let stopped = false;
  /** The last check found runs without an owner. */
  let backlog = false;
  let seen: Pick<Renewal, 'work' | 'dead' | 'cancellations'> = { work: false, dead: false, cancellations: false };
  let trouble = false;
  let timer: NodeJS.Timeout | undefined;
  let end: NodeJS.Timeout | undefined;
  let soon: NodeJS.Timeout | undefined;
  /** Claimed runs that are not started yet. */
  const claimed = new Set<string>();

  const hold = (since: number) => {
    clearTimeout(end);
    if (!deps.fenced) return;
    until = since + leaseMs * (1 - MARGIN);
    end = setTimeout(() => lose('could not renew its lease'), Math.max(0, until - deps.monotonic()));
  };
  /** From here on this process stores nothing, and its runs are stopped. */
  const lose = (why: string) => {
    if (epoch === null || !deps.fenced) return;
    log.warn({ epoch }, `this replica ${why}; its runs are released`);
    clearTimeout(end);
    deps.writeAs('none');
    deps.lead(false);
    before = epoch;
    epoch = null;
    until = -Infinity;
    claimed.clear();
    runsStopped = deps.stopRuns();
  };
  const join = async () => {
    await runsStopped;
    const since = deps.monotonic();
    epoch = await membership.join(before);
    before = null;
    hold(since);
    deps.writeAs(epoch);
    log.info({ epoch }, 'this replica holds its lease');
  };
  const beat = async () => {
    if (stopped) return;
    if (epoch === null) await join();
    const [held, since] = [epoch, deps.monotonic()];
    if (held === null) return;
    const renewal = await membership.renew(held);
    if (epoch !== held) return;
    if (renewal === null) return lose('lost its lease to another replica');
    // Some of its runs may have ended in the meantime.
    if (since + leaseMs * (1 - MARGIN) <= deps.monotonic() || deps.monotonic() >= until)
      return lose('renewed its lease too late');
    hold(since);
    trouble = false;
    seen = renewal;
    backlog = renewal.work;
    deps.lead(renewal.leads);
    deps.definitionsChanged(renewal.definitions);
  };
  /** Separate from the renewal: a claim may wait for locks, a renewal must not. */
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
    if (!trouble) log.warn({ err: error }, 'this replica cannot renew its lease or claim runs; it tries again');
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
      if (deps.monotonic() >= until) lose('was paused beyond the end of its lease');
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
