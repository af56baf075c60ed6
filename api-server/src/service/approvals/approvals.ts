import type { ActiveRun } from '../../runs/state/active-run.ts';
import { stopReason } from '../../runs/state/stopped.ts';
import type { Write } from '../../runs/state/records.ts';
import {
  type ApprovalFilter,
  type ApprovalList,
  closeApproval,
  closeApprovalsOf,
  decideApproval,
  findApproval,
  insertApproval,
  listApprovals,
  setWaitingOn,
} from '../../store/tables/approvals.ts';
import { insertAudit } from '../../store/tables/audit.ts';
import { addCounters } from '../../store/db/counters.ts';
import type { Database } from '../../store/db/database.ts';
import { toWrite } from '../../store/db/write.ts';
import { appendEvents } from '../../store/tables/event-writes.ts';
import { decide } from './decide.ts';
import { createDesk, type Place } from './desk.ts';
import { needsNoInput } from '../../runs/human/fields.ts';
import type { Approval, Decided, Decider, Verdict } from '../../runs/human/approval.ts';

/** The request as it goes to people; `notify/plan.ts` has the words. */
export interface Asking {
  id: string;
  step: string;
  prompt: string;
  askedAt: number;
  path: string;
  /** The input of a tool call as it stands in the prompt; null for a step. */
  input: string | null;
  buttons: { label: string; value: string; style: 'primary' | 'danger' }[];
}

export interface ApprovalsDeps {
  database: Pick<Database, 'db' | 'write'>;
  /** Tells people, in the transaction that stores the question. */
  announce(run: ActiveRun, asking: Asking): Write[];
  now(): number;
}

export interface Waiting {
  signal: AbortSignal;
  /** Stores the end of a question with what the run has pending, durably. */
  store(writes: Write[]): Promise<void>;
}

/** Questions to people: asked by runs, answered by routes, pages and chats (Orchestration 3, Design 5). */
export interface Approvals {
  /** For the transaction that stores where the question comes from: nobody can be asked before. */
  ask(run: ActiveRun, approval: Approval): Write[];
  /** Resolves once the question is closed: by a decision, by its time or with the signal. Throws `Stopped` for a shutdown. */
  answer(approval: Approval, waiting: Waiting): Promise<Approval>;
  /** For the transaction that ends a run: what it still asks is asked no more. */
  closeAll(run: ActiveRun): Write[];
  /** For the transaction with which a run goes on. */
  goesOn(run: ActiveRun): Write[];
  decide(id: string, decision: { verdict: Verdict; by: Decider }): Promise<Decided>;
  find(id: string): Promise<Approval | null>;
  list(filter: ApprovalFilter, page: { limit: number; offset: number }): Promise<ApprovalList>;
  pendingByTeam(): Map<string, number>;
  /** Another process says that a question was answered: `approval ID`. */
  heard(word: string): void;
  /** Calls with every question that was closed here, whoever closed it. */
  onClosed(listener: (approval: Approval) => void): void;
}

/** Another process may take the decision; this is how soon it is seen here. */
const LOOK_EVERY_MS = 10_000;

/** What is said to the other processes, with the id of the question. */
const WORD = 'approval ';

export function createApprovals({ database, announce, now }: ApprovalsDeps): Approvals {
  const { db } = database;
  const desk = createDesk();
  const listeners: ((approval: Approval) => void)[] = [];
  const tell = (approval: Approval) => listeners.forEach((listener) => listener(approval));
  const find = (id: string) => findApproval(db, id);

  const look = async (approval: Approval): Promise<Approval> => (await find(approval.id).catch(() => null)) ?? approval;

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

  /** What the store says, once it says more than that nobody has decided. */
  const wait = async (approval: Approval, place: Place, waiting: Waiting): Promise<Approval> => {
    const { signal } = waiting;
    for (;;) {
      const seen = await look(approval);
      if (seen.status !== 'pending') return seen;
      const stopped = stopReason(signal);
      if (stopped?.why === 'shutdown') throw stopped;
      if (stopped) return close(approval, stopped.why === 'cancelled' ? 'cancelled' : 'timed_out', waiting);
      const left = approval.expiresAt - now();
      if (left <= 0) return close(approval, 'timed_out', waiting);
      await place.pause(Math.min(left, LOOK_EVERY_MS), signal);
    }
  };

  return {
    find,
    list: (filter, page) => listApprovals(db, filter, page),
    pendingByTeam: desk.pendingByTeam,
    heard: (word) => {
      if (word.startsWith(WORD)) desk.wake(word.slice(WORD.length));
    },
    onClosed: (listener) => void listeners.push(listener),
    ask: (run, approval) => [
      toWrite((tx) => insertApproval(tx, approval)),
      logOf(run),
      toWrite((tx) => setWaitingOn(tx, run.id, 'human')),
      ...announce(run, askingOf(approval)),
    ],
    answer: async (approval, waiting) => {
      const { id, runId, team, stage } = approval;
      const place = desk.enter({ id, runId, team, stage });
      try {
        return await wait(approval, place, waiting);
      } finally {
        place.leave();
      }
    },
    closeAll: (run) => (run.inFlight.size > 0 ? [toWrite((tx) => closeApprovalsOf(tx, run.id, now()))] : []),
    goesOn: (run) => (desk.asks(run.id) ? [logOf(run)] : [logOf(run), toWrite((tx) => setWaitingOn(tx, run.id, null))]),
    decide: async (id, decision) => {
      const record = async (...[made, audit, counters]: Parameters<Parameters<typeof decide>[0]['record']>) =>
        database.write(async (tx) => {
          if (!(await decideApproval(tx, made))) return false;
          await tx.notify(`${WORD}${id}`);
          await insertAudit(tx, audit);
          await addCounters(tx, counters);
          return true;
        });
      const decided = await decide({ find, record, now }, id, decision);
      if (decided.kind === 'decided') {
        desk.wake(id);
        tell(decided.approval);
      }
      return decided;
    },
  };
}

/** A run that waits may wait long: its log so far is stored with the question, and with the answer. */
function logOf(run: ActiveRun): Write {
  const events = run.journal.take();
  return toWrite((tx) => appendEvents(tx, run.id, events));
}

function askingOf({ id, runId, stepName, question, requestedAt, fields, tool }: Approval): Asking {
  const yes = { label: 'Approve', value: `approve:${id}`, style: 'primary' } as const;
  const no = { label: 'Reject', value: `reject:${id}`, style: 'danger' } as const;
  return {
    id,
    step: stepName,
    prompt: question,
    input: tool && JSON.stringify(tool.input),
    askedAt: requestedAt,
    path: `/ui/runs/${runId}?step=${encodeURIComponent(stepName)}`,
    // What only a person can fill in is filled in on the page.
    buttons: needsNoInput(fields) ? [yes, no] : [no],
  };
}
