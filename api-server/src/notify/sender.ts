import type { Pipeline } from '@signalbox/crds';
import type { Failure, HttpCall, HttpExecutor, HttpReply } from '../runs/state/executor.ts';
import type { Write } from '../runs/state/records.ts';
import type { TriedRequest } from '../runs/state/step-parts.ts';
import type { Undelivered } from './undelivered.ts';
import { createAuthorTurns, createPace, type MessageAuthor, targetsOf, untilTurn, waitsFor } from './author-turns.ts';
import { createBeside } from './beside.ts';
import { attempt, type Delivery, hide, type Io, type Prepared, type Unusable } from './channel.ts';
import type { ChannelName, Notification } from './message.ts';
import { createPruning, type PruneBefore, type Pruned } from './pruning.ts';
import { createRateLimits } from './rate-limits.ts';
import { type Claimed, type Delivered, type Patience, type Settlement, settle, UNSAID_WAIT_MS } from './settle.ts';
import { noting } from './tried.ts';

/** What one try may take, in production. */
export const TRY_MS = 10_000;
/** Sends that go on at the same time. */
export const MAX_IN_FLIGHT = 8;
/** A claim lasts longer than the longest try, so that no other process takes the row meanwhile. */
const CLAIM_MS = 15_000;
const POLL_MS = 1_000;
/** Between two looks once nothing was planned or claimed for `BUSY_MS`: who fills the outbox says so here, and what a process that died left is found late. */
const IDLE_POLL_MS = 15_000;
const BUSY_MS = 10_000;
/** Long enough for the transaction of what was just planned. */
const SOON_MS = 100;
const RECOUNT_MS = 10_000;
/** After a message did not arrive: thousands of others may have failed before it, and all are counted. */
const RECOUNT_SOON_MS = 1_000;
/** How long a receiver that did not answer is left alone. */
export const UNANSWERED_WAIT_MS = 30_000;

/** Calls a URL that the author of a run wrote; without a run, the pipeline of this name. */
export type GuardedHttp = (call: HttpCall & Pick<Claimed, 'pipeline' | 'runId'>) => Promise<HttpReply | Failure>;

/** The store's side; claims and settlements are durable when they resolve. */
export interface Outbox {
  insert(notifications: readonly Notification[]): Write;
  claim(claim: { now: number; until: number; limit: number }): Promise<Claimed[]>;
  settle(settlement: Settlement): Promise<void>;
  prune(before: PruneBefore, signal: AbortSignal): Promise<Pruned>;
  definitionOf(runId: string): Promise<Pipeline | null>;
  /** What did not reach its channel so far. */
  undelivered(signal: AbortSignal): Promise<Undelivered[]>;
}

export interface SenderDeps {
  outbox: Pick<Outbox, 'claim' | 'settle' | 'prune'>;
  prepare(notification: Notification, channel: ChannelName): Promise<Prepared | Unusable>;
  /** Who wrote the definition of a message. */
  authorOf(notification: Pick<Notification, 'pipeline' | 'runId'>): Promise<MessageAuthor>;
  http: HttpExecutor;
  guardedHttp: GuardedHttp;
  /** Takes the operator's secrets out of text. */
  mask(text: string): string;
  log: Io['log'];
  now(): number;
  tryMs: number;
  patience: Patience;
  /** Told every few seconds, and after a message was given up. */
  recount(signal: AbortSignal): Promise<void>;
}

/** Where a message goes; `tenant` is the namespace that it is of, null for the operator's. */
type Ready = Prepared & { tenant: string | null };

/** One try as it goes on. */
interface Sending {
  signal: AbortSignal;
  /** The last request of it. */
  sent: { request: TriedRequest | null };
}

/** Delivers what the outbox holds, at least once, in the background: a failure never reaches the run. */
export class Sender {
  #deps: SenderDeps;
  #inFlight = new Set<Promise<void>>();
  /** What reads much: no message waits for it. */
  #beside = createBeside((error) => this.#warn(error));
  #stop = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #soon: NodeJS.Timeout | undefined;
  #polling: Promise<void> | null = null;
  /** The last claim was full, so more may wait. */
  #more = false;
  #prune: ReturnType<typeof createPruning>;
  #recountAt = 0;
  #busyAt = 0;
  #limits = createRateLimits();
  #turns = createAuthorTurns();
  #pace = createPace();
  /** Of looking at them, so that what waits takes no time of what is due. */
  #looks = createPace();

  constructor(deps: SenderDeps) {
    this.#deps = deps;
    this.#prune = createPruning(deps);
  }

  start(): void {
    this.#busyAt = this.#deps.now();
    if (this.#timer === undefined) this.#later();
  }

  /** Something is about to be stored: look sooner than at the next round, if this sender was started. */
  soon(): void {
    if (this.#timer === undefined) return;
    this.#busyAt = this.#deps.now();
    this.#later();
    this.#soon ??= setTimeout(() => {
      this.#soon = undefined;
      void this.poll();
    }, SOON_MS);
  }

  /** The message of a namespace at its time; null for the operator's. */
  paced(notification: Notification, tenant: string | null): Notification {
    if (tenant === null) return notification;
    return { ...notification, createdAt: Math.max(notification.createdAt, this.#pace(tenant, this.#deps.now())) };
  }

  /** The next round: soon while there is work, seldom while there is none. */
  #later(): void {
    clearTimeout(this.#timer);
    const isBusy = this.#deps.now() - this.#busyAt < BUSY_MS;
    this.#timer = setTimeout(
      () => {
        void this.poll();
        this.#later();
      },
      isBusy ? POLL_MS : IDLE_POLL_MS,
    );
  }

  /** Takes nothing new and ends the tries that go on; their rows are taken up again at the next start. */
  async stop(): Promise<void> {
    clearTimeout(this.#timer);
    clearTimeout(this.#soon);
    this.#timer = undefined;
    this.#stop.abort();
    await this.#polling;
    await this.settled();
  }

  /** Claims what is due, as far as there is room, and begins to send it. Never overlaps, never rejects. */
  poll(): Promise<void> {
    this.#polling ??= this.#poll().finally(() => (this.#polling = null));
    return this.#polling;
  }

  /** Resolves when everything that was begun has ended. */
  async settled(): Promise<void> {
    while (this.#inFlight.size > 0) await Promise.all(this.#inFlight);
    await this.#beside.ended();
  }

  async #poll(): Promise<void> {
    const { outbox, now } = this.#deps;
    const limit = MAX_IN_FLIGHT - this.#inFlight.size;
    if (limit <= 0 || this.#stop.signal.aborted) return;
    try {
      const at = now();
      const claimed = await outbox.claim({ now: at, until: at + CLAIM_MS, limit });
      if (claimed.length > 0) this.#busyAt = at;
      this.#more = claimed.length === limit;
      claimed.forEach((one) => this.#begin(one));
      this.#beside.begin(this.#prune(at, this.#stop.signal));
      if (at < this.#recountAt) return;
      this.#recountAt = at + RECOUNT_MS;
      this.#beside.begin(this.#deps.recount(this.#stop.signal));
    } catch (error) {
      this.#warn(error);
    }
  }

  #warn(error: unknown): void {
    if (this.#stop.signal.aborted) return;
    this.#deps.log.warn({ err: error }, 'the outbox of notifications cannot be read; trying again');
  }

  #begin(claimed: Claimed): void {
    const work = this.#deliver(claimed)
      .catch((error: unknown) =>
        this.#deps.log.warn(
          { notification_id: claimed.id, err: error },
          'a notification was not settled; it is tried again',
        ),
      )
      .finally(() => {
        this.#inFlight.delete(work);
        if (this.#more) void this.poll();
      });
    this.#inFlight.add(work);
  }

  async #deliver(claimed: Claimed): Promise<void> {
    const delivery = await this.#try(claimed);
    if (!delivery.ok && this.#stop.signal.aborted) return;
    const settlement = settle(claimed, delivery, this.#deps.now(), this.#deps.patience);
    await this.#deps.outbox.settle({
      ...settlement,
      next: settlement.next && (await this.#afterThis(settlement.next)),
    });
    if (!delivery.ok) this.#recountAt = Math.min(this.#recountAt, this.#deps.now() + RECOUNT_SOON_MS);
    if (settlement.status !== 'failed' && settlement.status !== 'forwarded') return;
    const { id, channel, runId, pipeline } = claimed;
    this.#deps.log.warn(
      { notification_id: id, channel, run_id: runId, pipeline, error: settlement.error },
      'notification failed',
    );
  }

  async #afterThis(reminder: Notification): Promise<Notification> {
    const { name, isTenant } = await this.#deps.authorOf(reminder);
    return this.paced(reminder, isTenant ? name : null);
  }

  async #try(claimed: Claimed): Promise<Delivered> {
    const prepared = await this.#deps.prepare(claimed, claimed.insteadOf ?? claimed.channel);
    if (claimed.insteadOf !== null) return this.#toLog(claimed, prepared);
    if (!prepared.ok) return { ok: false, message: prepared.message, retryable: false };
    const author = await this.#deps.authorOf(claimed);
    const ready = { ...prepared, tenant: author.isTenant ? author.name : null };
    if (prepared.byAuthor || author.isTenant) return this.#inTurn(ready, claimed, author.name);
    const at = this.#deps.now();
    const wait = this.#held(ready, claimed, at);
    return wait > 0 ? waitsFor(wait) : this.#send(ready, claimed, at);
  }

  async #inTurn(ready: Ready, claimed: Claimed, author: string): Promise<Delivered> {
    const at = this.#deps.now();
    const turn = (heldMs: number) => waitsFor(Math.max(untilTurn(claimed, heldMs, at), this.#ahead(ready, at)));
    if (!this.#turns.take(author)) return turn(0);
    try {
      const wait = this.#held(ready, claimed, at);
      return wait > 0 ? turn(wait) : await this.#send(ready, claimed, at);
    } finally {
      this.#turns.giveBack(author);
    }
  }

  /** How long until one more message of its tenant is looked at. */
  #ahead({ tenant }: Ready, at: number): number {
    return tenant === null ? 0 : this.#looks(tenant, at) - at;
  }

  #held(ready: Ready, claimed: Claimed, at: number): number {
    const own = targetsOf(ready, claimed).map((one) => this.#limits.wait(one, claimed.id, at));
    return Math.max(...own, this.#limits.waitBehind(ready, claimed.id, at));
  }

  async #send(prepared: Ready, claimed: Claimed, at: number): Promise<Delivered> {
    const timeout = AbortSignal.timeout(this.#deps.tryMs);
    const sent: { request: TriedRequest | null } = { request: null };
    const io = this.#io(claimed, this.#deps.log, { signal: AbortSignal.any([timeout, this.#stop.signal]), sent });
    const delivery = await attempt(prepared, claimed, io);
    const isSilent = !delivery.ok && timeout.aborted;
    this.#note(prepared, claimed, isSilent ? at + UNANSWERED_WAIT_MS : null);
    const request = this.#masked(sent.request);
    if (delivery.ok) return { ...delivery, request };
    if (delivery.limited) this.#limits.hold(prepared, at, delivery.retryAfterMs ?? UNSAID_WAIT_MS);
    if (isSilent)
      return { ok: false, message: `no answer within ${this.#deps.tryMs / 1000} s`, retryable: true, request };
    return { ...delivery, message: hide(this.#deps.mask(delivery.message), prepared.secrets), request };
  }

  /** Until when nothing is sent to a receiver that did not answer; null where it did. */
  #note(prepared: Prepared, claimed: Claimed, silentUntil: number | null): void {
    const answering = targetsOf(prepared, claimed).at(-1) ?? prepared.target;
    if (silentUntil === null) this.#limits.answered(answering);
    else this.#limits.silent(answering, silentUntil);
  }

  #masked(request: TriedRequest | null): TriedRequest | null {
    return request && { ...request, url: this.#deps.mask(request.url) };
  }

  #io({ id, pipeline, runId }: Claimed, log: Io['log'], { signal, sent }: Sending): Io {
    const { now } = this.#deps;
    const note = (request: TriedRequest) => (sent.request = request);
    const http = noting(this.#deps.http, note);
    const guardedHttp = noting((call) => this.#deps.guardedHttp({ ...call, pipeline, runId }), note);
    return { http, guardedHttp, now, log, id, signal };
  }

  /** A testing pipeline's message: said in the log, with what would keep it from its channel. */
  async #toLog(claimed: Claimed, prepared: Prepared | Unusable): Promise<Delivery> {
    const problem = prepared.ok
      ? {}
      : { config_problem: `${claimed.insteadOf ?? claimed.channel}: ${prepared.message}` };
    const logged = await this.#deps.prepare({ ...claimed, source: { from: 'operator' } }, 'log');
    if (!logged.ok) return { ok: false, message: logged.message, retryable: false };
    const log = {
      info: (fields: object, msg: string) => this.#deps.log.info({ ...fields, ...problem }, msg),
      warn: (fields: object, msg: string) => this.#deps.log.warn({ ...fields, ...problem }, msg),
    };
    return logged.send(claimed, this.#io(claimed, log, { signal: this.#stop.signal, sent: { request: null } }));
  }
}
