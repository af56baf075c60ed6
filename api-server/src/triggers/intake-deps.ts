import type { Capacity } from '../runs/run/capacity.ts';
import type { ConcurrencyGroup } from '../runs/state/concurrency-group.ts';
import type { ConcurrencyGroups } from '../runs/run/concurrency-groups.ts';
import type { TriggerContext } from '../runs/state/model.ts';
import type { NewRun, RunRequest } from '../runs/state/new-run.ts';
import type { CoverageKey, DedupWindow, DuplicateKey, DuplicateRun, NewRunRecord } from '../runs/state/records.ts';
import type { Holding } from '../runs/state/shares.ts';
import type { TenantLoad } from './tenant-limits.ts';

/** A run that a delivery asks for. */
export interface IntakeRequest extends Omit<RunRequest, 'dedupKey'> {
  /** The other alerts of the delivery, the most severe first, where one run is for all of them; absent where it stands alone. */
  merged?: {
    contexts: readonly TriggerContext[];
    /** What is asked for where one of them gets the run. */
    requestFor(context: TriggerContext): IntakeRequest;
  };
}

/** What the intake needs of the store, the engine and the clock. */
export interface IntakeDeps<Tx> {
  /** One transaction, durable when it resolves; the job may run twice. */
  write<T>(job: (tx: Tx) => Promise<T>): Promise<T>;
  findDuplicate(tx: Tx, key: DuplicateKey): Promise<DuplicateRun | null>;
  /** Runs that cover these alerts, by fingerprint. */
  findCovering(tx: Tx, key: CoverageKey): Promise<ReadonlyMap<string, DuplicateRun>>;
  keepCoverage(tx: Tx, runId: string, coverage: Omit<CoverageKey, keyof DedupWindow>): Promise<void>;
  /** Returns the owner of the run. */
  insertRun(tx: Tx, row: NewRunRecord): Promise<number | null>;
  /** The pipeline with which a run begins; absent where no namespace has limits. */
  storable?(pipeline: RunRequest['pipeline']): RunRequest['pipeline'];
  /** Keeps the pipeline's resolved body under its hash. */
  keepDefinition(tx: Tx, pipeline: RunRequest['pipeline']): Promise<void>;
  /** Told once a delivery's definitions are durable, so that they are not written again. */
  definitionKept(hash: string): void;
  /** The results that a rerun starts with. */
  insertPrior?(tx: Tx, runId: string, request: RunRequest): Promise<void>;
  /** Whether the runs that have not ended, and `also` those that are about to begin, leave no memory for another one of a namespace; null for the operator. */
  isFull?(namespace: string | null, also: Holding): boolean;
  /** Absent where no namespace has limits. */
  tenantLoad?: TenantLoad<Tx>;
  capacity: Capacity;
  concurrencyGroups: ConcurrencyGroups;
  /** So that it takes no time in the transaction. */
  compileKey(pipeline: RunRequest['pipeline']): Promise<void>;
  /** The concurrency group of the pipeline's `concurrency`, or null. */
  concurrencyGroupOf(request: IntakeRequest): ConcurrencyGroup | null;
  /** Runs that may wait for a slot; zero where `concurrency.on_full` is `reject`. */
  maxQueued: number;
  /** Runs that may wait for a place in their pipeline's own `concurrency`. */
  maxInGroups: number;
  dedup: { enabled: boolean; windowSeconds: number };
  now(): number;
  newId(now: number): string;
  /** What several processes that share the database have together; absent where this one has all. */
  shared?: SharedQueue<Tx>;
  /** Called once the row is durable; a queued run waits for its slot first. */
  begin(run: NewRun, state: 'running' | 'queued'): void;
}

/** Runs that wait and places in concurrency groups, as the store has them: for whichever process has room. */
export interface SharedQueue<Tx> {
  /** Runs without an owner. */
  waiting(tx: Tx): Promise<number>;
  /** The free places of the concurrency group, below zero where runs wait; no other transaction decides until this one ends. */
  placesLeft(tx: Tx, concurrencyGroup: ConcurrencyGroup): Promise<number>;
  place(tx: Tx, concurrencyGroup: ConcurrencyGroup, placing: { runId: string; entered: boolean }): Promise<void>;
  /** For a run that waits in a concurrency group where the newest wins. */
  makeRoom(tx: Tx, concurrencyGroup: ConcurrencyGroup, runId: string): Promise<void>;
}
