import { type HumanField, inputSha256 } from '@signalbox/crds';
import { type Kysely, sql } from 'kysely';
import type { Approval, ApprovalStatus, FieldValues, ToolCall, Vote } from '../../runs/human/approval.ts';
import type { ConfigSource, Message } from '../../notify/message.ts';
import { camelCase, snakeCase } from '../../runs/state/key-case.ts';
import type { Stage } from '../../runs/state/model.ts';
import type { Tx } from '../db/database.ts';
import { dialectOf } from '../db/dialect.ts';
import { firstWithin } from '../db/first-within.ts';
import type { ApprovalRow, Tables } from '../db/schema.ts';
import { columns, statement } from '../db/statement.ts';

/** Stores a question that waits; one that a restart asks again stays as it is. */
export async function insertApproval(tx: Tx, approval: Approval): Promise<void> {
  const row = {
    ...snakeCase(approval),
    fields: JSON.stringify(approval.fields),
    tool: approval.tool && JSON.stringify(snakeCase(approval.tool)),
    answers: approval.answers && JSON.stringify(approval.answers),
    not_the_starter: approval.notTheStarter ? 1 : 0,
    votes: votesText(approval.votes) || null,
  };
  await tx.db
    .insertInto('approvals')
    .values(row)
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/**
 * Where an agent is asked anew, because its run ended with its process, closes what that run asked: nobody waits for the answer. This reads
 * all that the step asks. Answers which ones.
 */
export async function closeEarlier(
  tx: Tx,
  { runId, stepName, requestedAt }: Approval,
  backendRunId: string,
): Promise<string[]> {
  const closed = await tx.db
    .updateTable('approvals')
    .set({ status: 'cancelled', decided_at: requestedAt })
    .where('run_id', '=', runId)
    .where('step_name', '=', stepName)
    .where('status', '=', 'pending')
    .where(dialectOf(tx.db).fieldOf('tool', 'backend_run_id'), '<>', backendRunId)
    .returning('id')
    .execute();
  return closed.map(({ id }) => id);
}

type ToolRow = Omit<ToolCall, 'inputSha256' | 'backendRunId'> & { input_sha256?: string; backend_run_id?: string };

/** Rows of earlier versions have no hash. */
const toTool = ({ input_sha256, backend_run_id, ...tool }: ToolRow): ToolCall => ({
  ...tool,
  ...(backend_run_id !== undefined && { backendRunId: backend_run_id }),
  inputSha256: input_sha256 ?? inputSha256(tool.input),
});

type Closing = Pick<ApprovalRow, 'id' | 'status' | 'decided_at' | 'decided_by' | 'comment' | 'answers'>;

/** What was read before a decision: nobody else voted since. */
interface Unchanged {
  seen: string;
}

const decideRow = statement<Closing & Unchanged>((db, slot) =>
  db
    .updateTable('approvals')
    .set(columns(slot, ['status', 'decided_at', 'decided_by', 'comment', 'answers']))
    .where('id', '=', slot.id)
    .where('status', '=', 'pending')
    .where(({ fn, val }) => fn.coalesce('votes', val('')), '=', slot.seen),
);

export interface Decision {
  id: string;
  status: 'approved' | 'rejected';
  at: number;
  by: string;
  comment: string | null;
  answers: FieldValues;
  /** The votes that it is based on. */
  votes: readonly Vote[];
}

const votesText = (votes: readonly Vote[]): string => (votes.length === 0 ? '' : JSON.stringify(votes));

/** True for the one decision that came first. */
export async function decideApproval(tx: Tx, decision: Decision): Promise<boolean> {
  const { id, status, at, by, comment, answers, votes } = decision;
  const row = { id, status, decided_at: at, decided_by: by, comment, answers: JSON.stringify(answers) };
  return (await tx.run(decideRow, { ...row, seen: votesText(votes) })) === 1;
}

const voteRow = statement<{ id: string; votes: string } & Unchanged>((db, slot) =>
  db
    .updateTable('approvals')
    .set({ votes: slot.votes })
    .where('id', '=', slot.id)
    .where('status', '=', 'pending')
    .where(({ fn, val }) => fn.coalesce('votes', val('')), '=', slot.seen),
);

/** Replaces the votes that were seen; false where the approval was closed or got another vote meanwhile. */
export async function voteApproval(
  tx: Tx,
  id: string,
  votes: { seen: readonly Vote[]; now: readonly Vote[] },
): Promise<boolean> {
  const row = { id, votes: votesText(votes.now), seen: votesText(votes.seen) };
  return (await tx.run(voteRow, row)) === 1;
}

/** Who started a run, or the run that it is part of: a token; null for an alert, a schedule, or a run of an earlier version. */
export async function starterOf(db: Kysely<Tables>, runId: string): Promise<string | null> {
  let id: string | null = runId;
  while (id !== null) {
    const row: { started_by: string | null; parent_run_id: string | null } | undefined = await db
      .selectFrom('runs')
      .select(['started_by', 'parent_run_id'])
      .where('id', '=', id)
      .executeTakeFirst();
    if (row?.started_by) return row.started_by;
    id = row?.parent_run_id ?? null;
  }
  return null;
}

const closeRow = statement<{ id: string; status: string; at: number }>((db, slot) =>
  db
    .updateTable('approvals')
    .set({ status: slot.status, decided_at: slot.at })
    .where('id', '=', slot.id)
    .where('status', '=', 'pending'),
);

/** Ends a question without an answer; false when it had one. */
export const closeApproval = async (
  tx: Tx,
  id: string,
  end: { status: 'timed_out' | 'cancelled'; at: number },
): Promise<boolean> => (await tx.run(closeRow, { id, ...end })) === 1;

const closeRunRows = statement<{ run_id: string; at: number }>((db, slot) =>
  db
    .updateTable('approvals')
    .set({ status: 'cancelled', decided_at: slot.at })
    .where('run_id', '=', slot.run_id)
    .where('status', '=', 'pending'),
);

/** Ends whatever a run still asks. */
export async function closeApprovalsOf(tx: Tx, runId: string, at: number): Promise<void> {
  await tx.run(closeRunRows, { run_id: runId, at });
}

const waitingRow = statement<{ id: string; waiting_on: string | null }>((db, slot) =>
  db.updateTable('runs').set({ waiting_on: slot.waiting_on }).where('id', '=', slot.id),
);

/** Whom a run waits for; null when it goes on. */
export async function setWaitingOn(tx: Tx, runId: string, waitingOn: 'human' | null): Promise<void> {
  await tx.run(waitingRow, { id: runId, waiting_on: waitingOn });
}

/** Null for an unknown one. */
export async function findApproval(db: Kysely<Tables>, id: string): Promise<Approval | null> {
  const row = await db.selectFrom('approvals').selectAll().where('id', '=', id).executeTakeFirst();
  return row ? toApproval(row) : null;
}

/** How a question stands, without its texts, which may be large; null for an unknown one. */
export async function findEnd(db: Kysely<Tables>, id: string): Promise<End | null> {
  const row = await db.selectFrom('approvals').select(END_COLUMNS).where('id', '=', id).executeTakeFirst();
  return row ? toEnd(row) : null;
}

const END_COLUMNS = ['status', 'decided_at', 'decided_by', 'comment', 'answers'] as const;
type End = Pick<Approval, 'status' | 'decidedAt' | 'decidedBy' | 'comment' | 'answers'>;

const toEnd = (row: Pick<ApprovalRow, (typeof END_COLUMNS)[number]>): End => ({
  status: row.status as ApprovalStatus,
  decidedAt: row.decided_at,
  decidedBy: row.decided_by,
  comment: row.comment,
  answers: row.answers === null ? null : (JSON.parse(row.answers) as FieldValues),
});

/** Those of them that are stored, by id. */
export async function findApprovals(db: Kysely<Tables>, ids: readonly string[]): Promise<Map<string, Approval>> {
  if (ids.length === 0) return new Map();
  const rows = await db.selectFrom('approvals').selectAll().where('id', 'in', ids).execute();
  return new Map(rows.map((row) => [row.id, toApproval(row)]));
}

export interface ApprovalFilter {
  status?: ApprovalStatus | undefined;
  run?: string | undefined;
}

export interface ApprovalList {
  approvals: Approval[];
  total: number;
}

/** Bytes of the texts of a list: questions and inputs are written by agents, and a page holds 200 of them. */
const MOST_LISTED_BYTES = 4 * 1024 * 1024;

/** Those that wait first, the next one to expire before all, then the newest; fewer than `limit` where their texts have no room, and at least one. */
export async function listApprovals(
  db: Kysely<Tables>,
  filter: ApprovalFilter,
  page: { limit: number; offset: number },
): Promise<ApprovalList> {
  const of = (waiting: boolean) => {
    const query = db
      .selectFrom('approvals')
      .where('status', waiting ? '=' : '!=', 'pending')
      .$if(filter.run !== undefined, (some) => some.where('run_id', '=', filter.run as string));
    return filter.status === undefined ? query : query.where('status', '=', filter.status);
  };
  const counted = async (waiting: boolean) => {
    const { n } = await of(waiting)
      .select(({ fn }) => fn.countAll<number | string>().as('n'))
      .executeTakeFirstOrThrow();
    return Number(n);
  };
  const sizes = async (waiting: boolean, { limit, offset }: { limit: number; offset: number }) =>
    limit <= 0
      ? []
      : of(waiting)
          .select(['id', bytesOfTexts.as('bytes')])
          .orderBy(waiting ? 'expires_at' : 'requested_at', waiting ? 'asc' : 'desc')
          .orderBy('id', waiting ? 'asc' : 'desc')
          .limit(limit)
          .offset(offset)
          .execute();
  const [pending, ended] = await Promise.all([counted(true), counted(false)]);
  const first = await sizes(true, page);
  const rest = await sizes(false, { limit: page.limit - first.length, offset: Math.max(0, page.offset - pending) });
  const room = { most: MOST_LISTED_BYTES, least: 1 };
  const ids = firstWithin([...first, ...rest], ({ bytes }) => Number(bytes), room).map(({ id }) => id);
  const found = await findApprovals(db, ids);
  return { approvals: ids.flatMap((id) => found.get(id) ?? []), total: pending + ended };
}

/** How many wait for a decision. */
export async function countWaiting(db: Kysely<Tables>): Promise<number> {
  const { n } = await db
    .selectFrom('approvals')
    .where('status', '=', 'pending')
    .select(({ fn }) => fn.countAll<number | string>().as('n'))
    .executeTakeFirstOrThrow();
  return Number(n);
}

const bytesOfTexts = sql<
  number | string
>`coalesce(octet_length(question), 0) + coalesce(octet_length(tool), 0) + coalesce(octet_length(fields), 0)`;

const toApproval = (row: ApprovalRow): Approval => ({
  ...camelCase(row),
  kind: row.kind as Approval['kind'],
  stage: row.stage as Stage,
  fields: JSON.parse(row.fields) as HumanField[],
  tool: row.tool === null ? null : toTool(JSON.parse(row.tool) as ToolRow),
  ...toEnd(row),
  notTheStarter: row.not_the_starter === 1,
  votes: row.votes === null ? [] : (JSON.parse(row.votes) as Vote[]),
});

/** What the outbox sent to a chat, or is to send, to ask for an approval; a run may have asked for thousands. */
export async function messagesOf(db: Kysely<Tables>, { id, runId }: Pick<Approval, 'id' | 'runId'>) {
  const asked = `${runId}/approval/${id}`;
  const rows = await db
    .selectFrom('notifications')
    .select(['channel', 'status', 'source', 'message', 'receipt'])
    .where('id', '>=', `${asked}/`)
    // The sign after the slash.
    .where('id', '<', `${asked}0`)
    .where('channel', 'in', ['slack', 'telegram'])
    .execute();
  return rows.map(({ channel, status, source, message, receipt }) => ({
    channel,
    status,
    source: JSON.parse(source) as ConfigSource,
    message: JSON.parse(message) as Message,
    receipt: receipt === null ? null : (JSON.parse(receipt) as Record<string, string>),
  }));
}
