import { randomUUID } from 'node:crypto';
import {
  type AgentRunParams,
  inputSha256,
  longHash,
  rpcError,
  type RpcResponse,
  type ToolApprovalResult,
} from '@signalbox/crds';
import type { ApprovalRight } from '../identity/authenticate.ts';
import type { Caller } from '../identity/caller.ts';
import type { ApprovalRequest } from './tool-door.ts';
import { eventText } from './event-text.ts';
import type { RunEvent } from './run-event.ts';
import type { RunAborted, RunOutcome } from './run-outcome.ts';
import type { RunSlot } from './run-slot.ts';
import { type Share, shareOf } from './share.ts';

/** A request as the approver gets it. */
export type ShownRequest = ApprovalRequest & { input_sha256: string };

/** A connection that started a run or attached to it later. */
export interface RunWatcher {
  approves: ApprovalRight;
  /** Whose connection it is; absent where it is another part of this process. */
  caller?: Caller;
  /** One event, with the run it belongs to; `text` is it as JSON, for all watchers together. */
  event(run: Run, event: RunEvent, text: () => string): void;
  /** Requests an approval over the connection; rejects where the connection cannot answer. */
  requestApproval(run: Run, request: ShownRequest, signal: AbortSignal): Promise<ToolApprovalResult>;
  /** Sends another request; rejects when the connection ends first. Only the gateway of a runner answers. */
  ask?(method: string, params: unknown, signal: AbortSignal): Promise<RpcResponse>;
}

const hasAllRights = ({ approves }: RunWatcher): boolean => approves === 'all';

/** The keys of the api-server can be foreseen: with its right they are apart, so that nobody else takes one before it. */
export const keyOf = (watcher: RunWatcher, key: string | undefined): string | undefined =>
  key && `${hasAllRights(watcher) ? 'all' : 'own'} ${key}`;

interface AskOptions<Answer> {
  may?: (watcher: RunWatcher, isStarter: boolean) => boolean;
  otherwise?: Answer | null;
}

/** How a run ended: the result or the error as it is sent. Thousands are kept for an hour, so it is one string. */
export interface FinishedRun {
  ok: boolean;
  json: string;
}

export function finishedRun(runId: string, outcome: RunOutcome): FinishedRun {
  if (outcome.ok) return { ok: true, json: JSON.stringify(outcome.result) };
  const { type, message, retryable, partial } = outcome;
  const error = rpcError(type, message, { run_id: runId, ...partial });
  return { ok: false, json: JSON.stringify({ ...error, data: { ...error.data, retryable } }) };
}

const STARTER_GONE = 'the connection that started the run is gone, and the gateway has no approve token';
const NO_RIGHT = "only a connection with the gateway's approve token may answer, and the run was started without it";

const MAX_ID_CHARS = 200;
/** The id of a call as it is kept: some providers write what their model thought into it. */
export const shortId = (callId: string): string => (callId.length > MAX_ID_CHARS ? longHash(callId) : callId);

const OTHER_INPUT = 'the approval is not for this input: its input_sha256 is missing or different';

/** Answers that wait for the end of one run, in all and of one watcher. An honest client waits once, and again after each reconnect. */
const MAX_WAITING = 64;
const MAX_OWN_WAITING = 16;

/** One run from acceptance to its answer; its watchers may change. */
export class Run {
  readonly id: string;
  params: AgentRunParams;
  private abort: AbortController | null = new AbortController();
  readonly finished: Promise<FinishedRun>;
  /** With the answers that each waits for: who leaves takes them away. */
  readonly watchers = new Map<RunWatcher, ((outcome: FinishedRun) => void)[]>();
  /** Its idempotency key, among those of connections with the same right. */
  readonly key: string | undefined;
  /** Whether it was started with the right to every approval: others may not follow or cancel it. */
  private readonly isReserved: boolean;
  /** Who started it. */
  readonly caller: Caller | undefined;
  /** With whose runs it shares its part of the slots. */
  readonly share: Share;
  slot: RunSlot | null = null;
  done = false;
  private resolveFinished: (outcome: FinishedRun) => void = () => {};
  private starter: RunWatcher | null;
  private readonly awaitingWatcher = new Set<() => void>();
  /** The ids of calls that were asked about. */
  private readonly askedAbout = new Set<string>();

  constructor(id: string, params: AgentRunParams, starter: RunWatcher) {
    this.id = id;
    this.params = params;
    this.starter = starter;
    this.caller = starter.caller;
    this.share = shareOf(params, starter);
    this.key = keyOf(starter, params.idempotency_key);
    this.isReserved = hasAllRights(starter);
    this.watchers.set(starter, []);
    this.finished = new Promise((resolve) => {
      this.resolveFinished = resolve;
    });
  }

  /** Whether a connection may follow the run and cancel it. */
  isOpenTo(watcher: RunWatcher): boolean {
    return !this.isReserved || hasAllRights(watcher);
  }

  /** Only while the run has not ended. */
  signal(): AbortSignal {
    if (!this.abort) throw new Error('the run is over');
    return this.abort.signal;
  }

  stop(reason: RunAborted): void {
    this.abort?.abort(reason);
  }

  emit(event: RunEvent): void {
    if (this.watchers.size === 0) return;
    const text = eventText(this.id, this.params.idempotency_key, event);
    for (const watcher of this.watchers.keys()) watcher.event(this, event, text);
  }

  /** Its events from now on, and its answer; null where too many wait for that. */
  watch(watcher: RunWatcher): Promise<FinishedRun> | null {
    if (this.done) return this.finished;
    const own = this.watchers.get(watcher) ?? [];
    if (own.length >= MAX_OWN_WAITING || this.waiting().length >= MAX_WAITING) return null;
    this.watchers.set(watcher, own);
    for (const arrived of this.awaitingWatcher) arrived();
    return new Promise((resolve) => own.push(resolve));
  }

  private waiting(): ((outcome: FinishedRun) => void)[] {
    return [...this.watchers.values()].flat();
  }

  /** Keeps what a later `agent.attach` needs and frees the rest, above all the prompt. */
  finish(outcome: FinishedRun): void {
    this.done = true;
    this.abort = null;
    this.slot = null;
    this.params = { agent: this.params.agent, idempotency_key: this.params.idempotency_key, input: '' };
    const waiting = this.waiting();
    this.watchers.clear();
    this.askedAbout.clear();
    this.starter = null;
    this.resolveFinished(outcome);
    for (const answer of waiting) answer(outcome);
  }

  /** Without a slot while it waits. An approval holds for the input that its answer names. */
  async requestApproval(request: ApprovalRequest, signal: AbortSignal): Promise<ToolApprovalResult> {
    const shown = {
      ...request,
      call_id: this.unused(shortId(request.call_id)),
      input_sha256: inputSha256(request.input),
    };
    const decide = () =>
      this.ask((watcher) => watcher.requestApproval(this, shown, signal), signal, {
        may: ({ approves }, isStarter) => approves === 'all' || (approves === 'own' && isStarter),
        otherwise: this.undecidable(),
      });
    const decision = await (this.slot ? this.slot.duringApproval(decide) : decide());
    if (!decision.approved || decision.input_sha256 === shown.input_sha256) return decision;
    return { ...decision, approved: false, comment: OTHER_INPUT };
  }

  /** Work of the run for which it has a slot, also while it waits for an approval. */
  working<Result>(work: () => Promise<Result>): Promise<Result> {
    return this.slot ? this.slot.working(work) : work();
  }

  /** The approver takes the same id for the same question, and some models use an id for several calls. */
  private unused(callId: string): string {
    const id = this.askedAbout.has(callId) ? randomUUID() : callId;
    this.askedAbout.add(id);
    return id;
  }

  /** The answer where no connection that attaches later could have the right; null where one could. */
  private undecidable(): ToolApprovalResult | null {
    const approves = this.starter?.approves;
    return approves === 'all' ? null : { approved: false, comment: approves === 'own' ? STARTER_GONE : NO_RIGHT };
  }

  /**
   * Asks the newest watcher that `may` answer; when it disconnects, the next one, or one that attaches later unless there is
   * another answer. Rejects when `signal` aborts.
   */
  async ask<Answer>(
    question: (watcher: RunWatcher) => Promise<Answer>,
    signal: AbortSignal,
    { may = () => true, otherwise = null }: AskOptions<Answer> = {},
  ): Promise<Answer> {
    const asked = new Set<RunWatcher>();
    for (;;) {
      signal.throwIfAborted();
      const candidates = [...this.watchers.keys()].filter((one) => !asked.has(one) && may(one, one === this.starter));
      const watcher = candidates.at(-1);
      if (!watcher && otherwise !== null) return otherwise;
      if (!watcher) {
        await this.nextWatcher(signal);
        continue;
      }
      asked.add(watcher);
      const answer = await question(watcher).catch(() => null);
      if (answer !== null) return answer;
    }
  }

  private nextWatcher(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const arrived = () => {
        this.awaitingWatcher.delete(arrived);
        signal.removeEventListener('abort', stop);
        resolve();
      };
      const stop = () => {
        this.awaitingWatcher.delete(arrived);
        reject(signal.reason as Error);
      };
      signal.addEventListener('abort', stop, { once: true });
      this.awaitingWatcher.add(arrived);
    });
  }
}
