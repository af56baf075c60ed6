import { uptime } from 'node:os';
import type { ActiveRun } from '../../runs/state/active-run.ts';
import { stopReason } from '../../runs/state/stopped.ts';
import type { Write } from '../../runs/state/records.ts';
import {
  type ApprovalFilter,
  type ApprovalList,
  closeApproval,
  closeApprovalsOf,
  closeEarlier,
  countWaiting,
  decideApproval,
  findApproval,
  findEnd,
  insertApproval,
  listApprovals,
  setWaitingOn,
  starterOf,
  voteApproval,
} from '../../store/tables/approvals.ts';
import { insertAudit } from '../../store/tables/audit.ts';
import { addCounters } from '../../store/db/counters.ts';
import type { Database } from '../../store/db/database.ts';
import { toWrite } from '../../store/db/write.ts';
import { appendEvents } from '../../store/tables/event-writes.ts';
import { type ApproverRules, tightened, underRules } from './approvers.ts';
import { decide, type DecideDeps } from './decide.ts';
import { createWaiters, type Waiter } from './waiters.ts';
import { unapproved } from '../../store/tables/sub-runs/unapproved.ts';
import { childId } from '../../runs/state/ids.ts';
import type { StepExecution } from '../../runs/state/model.ts';
import { callText } from '../../runs/human/call-text.ts';
import { needsNoInput } from '../../runs/human/fields.ts';
import type { Approval, Decided, Decider, Verdict } from '../../runs/human/approval.ts';

/** The approval request as it is sent to people; `notify/plan.ts` has the texts. */
export interface Asking {
  id: string;
  step: string;
  prompt: string;
  askedAt: number;
  path: string;
  /** A tool and its input as they stand in the prompt; null for a step. */
  call: string | null;
  buttons: { label: string; value: string; style: 'primary' | 'danger' }[];
}

export interface ApprovalsDeps {
  database: Pick<Database, 'db' | 'reader' | 'write'>;
  rules: ApproverRules;
  /** Writes the notifications, in the transaction that stores the approval. */
  announce(run: ActiveRun, asking: Asking): Write[];
  now(): number;
  /** Milliseconds that passed, also while the machine was suspended, whatever the clock is set to. Default: those of the machine. */
  elapsed?: () => number;
}

export interface Waiting {
  signal: AbortSignal;
  /** Stores the end of an approval together with the pending writes of the run, durably. */
  store(writes: Write[]): Promise<void>;
}

export type Unapproved = 'aborted' | 'escalated';

/** Approvals: runs ask for them; routes, pages and chats decide them (Orchestration 3). */
export interface Approvals {
  /** Writes for the transaction that stores the step, so that no approval exists without its step. */
  ask(run: ActiveRun, approval: Approval): Write[];
  /** Resolves when the approval is closed: by a decision, its timeout or the signal. Throws `Stopped` for a shutdown. */
  answer(approval: Approval, waiting: Waiting): Promise<Approval>;
  /** Writes for the transaction that ends a run: closes its pending approvals. */
  closeAll(run: ActiveRun): Write[];
  /** Writes for the transaction with which a run continues. */
  goesOn(run: ActiveRun): Write[];
  /** How a step ends that failed though a question of it, or below it, was rejected or has no answer; null where there is none. */
  unapproved(run: ActiveRun, step: Pick<StepExecution, 'id' | 'stepName' | 'executor'>): Promise<Unapproved | null>;
  decide(id: string, decision: { verdict: Verdict; by: Decider }): Promise<Decided>;
  find(id: string): Promise<Approval | null>;
  rules: ApproverRules;
  list(filter: ApprovalFilter, page: { limit: number; offset: number }): Promise<ApprovalList>;
  /** How many wait, in all processes. */
  countWaiting(): Promise<number>;
  pendingByTeam(): Map<string, number>;
  /** Receives the message of another replica that an approval was decided: `approval ID`. */
  heard(word: string): void;
  /** Calls the listener for every approval that this process closed. */
  onClosed(listener: (approval: Approval) => void): void;
}

/** Of a run with thousands of approvals all rows are looked at. */
const LIST_MS = 30_000;

/** Polling interval for a decision that another replica takes. */
const LOOK_EVERY_MS = 10_000;

const sinceBoot = () => uptime() * 1000;

/** The message to the other replicas, with the id of the approval. */
const WORD = 'approval ';

export function createApprovals({ database, rules, announce, now, elapsed = sinceBoot }: ApprovalsDeps): Approvals {
  const { db } = database;
  const waiters = createWaiters();
  const listeners: ((approval: Approval) => void)[] = [];
  const tell = (approval: Approval) => listeners.forEach((listener) => listener(approval));
  const find = (id: string) => findApproval(db, id);

  const look = async (approval: Approval): Promise<Approval> => ({
    ...approval,
    ...(await findEnd(db, approval.id).catch(() => null)),
  });

  const close = async (
    approval: Approval,
    status: 'timed_out' | 'cancelled',
    { store }: Waiting,
  ): Promise<Approval> => {
    await store([toWrite((tx) => closeApproval(tx, approval.id, { status, at: now() }))]);
    const closed = await look(approval);
    if (closed.status === status) tell(closed);
    return closed;
  };

  /** Of questions that were closed with a later one, which is stored. */
  const tellEarlier = async (ids: readonly string[]): Promise<void> => {
    for (const id of ids) {
      waiters.wake(id);
      const closed = await find(id).catch(() => null);
      if (closed) tell(closed);
    }
  };

  /** The stored approval, once it is closed. */
  const wait = async (approval: Approval, waiter: Waiter, waiting: Waiting): Promise<Approval> => {
    const { signal } = waiting;
    // A clock that is set ahead takes nobody's time to answer.
    const until = elapsed() + approval.expiresAt - now();
    for (;;) {
      const seen = await look(approval);
      if (seen.status !== 'pending') return seen;
      const stopped = stopReason(signal);
      if (stopped?.why === 'shutdown') throw stopped;
      if (stopped) return close(approval, stopped.why === 'cancelled' ? 'cancelled' : 'timed_out', waiting);
      const left = until - elapsed();
      if (left <= 0) return close(approval, 'timed_out', waiting);
      await waiter.pause(Math.min(left, LOOK_EVERY_MS), signal);
    }
  };

  return {
    find: async (id) => {
      const found = await find(id);
      return found && underRules(found, rules);
    },
    rules,
    list: async (filter, page) => {
      const from = filter.run === undefined ? db : database.reader(AbortSignal.timeout(LIST_MS));
      const { approvals, total } = await listApprovals(from, filter, page);
      return { approvals: approvals.map((approval) => underRules(approval, rules)), total };
    },
    countWaiting: () => countWaiting(db),
    pendingByTeam: waiters.pendingByTeam,
    heard: (word) => {
      if (word.startsWith(WORD)) waiters.wake(word.slice(WORD.length));
    },
    onClosed: (listener) => void listeners.push(listener),
    ask: (run, approval) => {
      noteAsked(run);
      return [
        ...closingEarlier(run, approval),
        toWrite((tx) => insertApproval(tx, tightened(approval, rules))),
        logOf(run),
        toWrite((tx) => setWaitingOn(tx, run.id, 'human')),
        ...announce(run, askingOf(approval)),
      ];
    },
    answer: async (approval, waiting) => {
      const { id, runId, team, stage } = approval;
      const waiter = waiters.enter({ id, runId, team, stage });
      try {
        await tellEarlier(closedFor.get(approval) ?? []);
        return await wait(approval, waiter, waiting);
      } finally {
        waiter.leave();
      }
    },
    closeAll: (run) => (mayHaveAsked(run) ? [toWrite((tx) => closeApprovalsOf(tx, run.id, now()))] : []),
    unapproved: async (run, { id, stepName, executor }) => {
      // The run whose questions count beside its own one.
      const runs = new Map([
        ['human', ''],
        ['pipeline', childId(run.id, stepName)],
        ['parallel', run.id],
        ['fan_out', run.id],
      ]);
      const runId = runs.get(executor);
      if (runId === undefined || !mayHaveAsked(run)) return null;
      const found = await unapproved(db, { approvalId: id, runId });
      return found && ENDS[found];
    },
    goesOn: (run) =>
      waiters.asks(run.id) ? [logOf(run)] : [logOf(run), toWrite((tx) => setWaitingOn(tx, run.id, null))],
    decide: async (id, decision) => {
      const record: DecideDeps['record'] = async (made, audit, counters) =>
        database.write(async (tx) => {
          if (!(await decideApproval(tx, made))) return false;
          await tx.notify(`${WORD}${id}`);
          await insertAudit(tx, audit);
          addCounters(tx, counters);
          return true;
        });
      const vote: DecideDeps['vote'] = async (votes, audit) =>
        database.write(async (tx) => {
          if (!(await voteApproval(tx, id, votes))) return false;
          await insertAudit(tx, audit);
          return true;
        });
      const starter = (runId: string) => starterOf(db, runId);
      const decided = await decide({ rules, find, starter, isOpen: waiters.has, record, vote, now }, id, decision);
      if (decided.kind === 'decided') {
        waiters.wake(id);
        tell(decided.approval);
      }
      return decided;
    },
  };
}

const ENDS = { rejected: 'aborted', unanswered: 'escalated' } as const;

/** Runs that asked people in this process, or a run below them did. */
const asking = new WeakSet<ActiveRun>();

function noteAsked(run: ActiveRun): void {
  for (let at: ActiveRun | null = run; at; at = at.parent) asking.add(at);
}

/** Before a restart, what it had begun may have asked. */
const mayHaveAsked = (run: ActiveRun): boolean => run.inFlight.size > 0 || asking.has(run);

/** By step, the backend's run that asked last: what others asked before is closed. */
const askers = new WeakMap<ActiveRun, Map<string, string>>();

/** By question, the earlier ones that are closed with it. */
const closedFor = new WeakMap<Approval, readonly string[]>();

/** With the first question of a backend's run: each look at what a step asks reads all of it. */
function closingEarlier(run: ActiveRun, approval: Approval): Write[] {
  const asker = approval.tool?.backendRunId;
  const ofSteps = askers.get(run) ?? new Map<string, string>();
  if (asker === undefined || ofSteps.get(approval.stepName) === asker) return [];
  askers.set(run, ofSteps.set(approval.stepName, asker));
  return [toWrite(async (tx) => void closedFor.set(approval, await closeEarlier(tx, approval, asker)))];
}

/** An approval may take long, so the log of the run is stored with the request and with the decision. */
function logOf(run: ActiveRun): Write {
  const events = run.journal.take();
  return toWrite((tx) => (events ? appendEvents(tx, run.id, events) : undefined));
}

function askingOf({ id, runId, stepName, question, requestedAt, fields, tool }: Approval): Asking {
  const yes = { label: 'Approve', value: `approve:${id}`, style: 'primary' } as const;
  const no = { label: 'Reject', value: `reject:${id}`, style: 'danger' } as const;
  return {
    id,
    step: stepName,
    prompt: question,
    call: tool && callText(tool),
    askedAt: requestedAt,
    path: `/ui/runs/${runId}?step=${encodeURIComponent(stepName)}`,
    // An approval with fields is decided on the page.
    buttons: needsNoInput(fields) ? [yes, no] : [no],
  };
}
