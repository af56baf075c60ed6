import { type HumanField, inputSha256 } from '@signalbox/crds';
import type { Kysely } from 'kysely';
import type { Approval, ApprovalStatus, FieldValues, ToolCall } from '../../runs/human/approval.ts';
import type { ConfigSource, Message } from '../../notify/message.ts';
import type { Stage } from '../../runs/state/model.ts';
import type { Tx } from '../db/database.ts';
import type { ApprovalRow, Tables } from '../db/schema.ts';
import { statement } from '../db/statement.ts';

type Fresh = Omit<ApprovalRow, 'decided_at' | 'decided_by' | 'comment' | 'answers'>;

const insertRow = statement<Fresh>((db, slot) =>
  db
    .insertInto('approvals')
    .values({
      id: slot.id,
      run_id: slot.run_id,
      step_name: slot.step_name,
      kind: slot.kind,
      pipeline_name: slot.pipeline_name,
      team: slot.team,
      stage: slot.stage,
      question: slot.question,
      fields: slot.fields,
      tool: slot.tool,
      status: slot.status,
      requested_at: slot.requested_at,
      expires_at: slot.expires_at,
    })
    // A question that a restart asks again is the same question.
    .onConflict((conflict) => conflict.doNothing()),
);

/** Stores a question that waits; one that is there already stays as it is. */
export async function insertApproval(tx: Tx, approval: Approval): Promise<void> {
  await tx.run(insertRow, {
    id: approval.id,
    run_id: approval.runId,
    step_name: approval.stepName,
    kind: approval.kind,
    pipeline_name: approval.pipelineName,
    team: approval.team,
    stage: approval.stage,
    question: approval.question,
    fields: JSON.stringify(approval.fields),
    tool: approval.tool === null ? null : JSON.stringify(toolRow(approval.tool)),
    status: 'pending',
    requested_at: approval.requestedAt,
    expires_at: approval.expiresAt,
  });
}

type ToolRow = Omit<ToolCall, 'inputSha256'> & { input_sha256?: string };

const toolRow = ({ inputSha256: input_sha256, ...tool }: ToolCall): ToolRow => ({ ...tool, input_sha256 });

/** Rows of earlier versions have no hash. */
const toTool = ({ input_sha256, ...tool }: ToolRow): ToolCall => ({
  ...tool,
  inputSha256: input_sha256 ?? inputSha256(tool.input),
});

type Closing = Pick<ApprovalRow, 'id' | 'status' | 'decided_at' | 'decided_by' | 'comment' | 'answers'>;

const decideRow = statement<Closing & { before: number }>((db, slot) =>
  db
    .updateTable('approvals')
    .set({
      status: slot.status,
      decided_at: slot.decided_at,
      decided_by: slot.decided_by,
      comment: slot.comment,
      answers: slot.answers,
    })
    .where('id', '=', slot.id)
    .where('status', '=', 'pending')
    .where('expires_at', '>', slot.before),
);

export interface Decision {
  id: string;
  status: 'approved' | 'rejected';
  at: number;
  by: string;
  comment: string | null;
  answers: FieldValues;
}

/** True for the one decision that came first, in time. */
export async function decideApproval(tx: Tx, { id, status, at, by, comment, answers }: Decision): Promise<boolean> {
  const row = { id, status, decided_at: at, decided_by: by, comment, answers: JSON.stringify(answers), before: at };
  return (await tx.run(decideRow, row)) === 1;
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

export interface ApprovalFilter {
  status?: ApprovalStatus | undefined;
  run?: string | undefined;
}

export interface ApprovalList {
  approvals: Approval[];
  total: number;
}

/** Those that wait first, then the newest. */
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
  const read = async (waiting: boolean, { limit, offset }: { limit: number; offset: number }) =>
    limit <= 0
      ? []
      : of(waiting)
          .selectAll()
          .orderBy('requested_at', 'desc')
          .orderBy('id', 'desc')
          .limit(limit)
          .offset(offset)
          .execute();
  const [pending, ended] = await Promise.all([counted(true), counted(false)]);
  const first = await read(true, page);
  const rest = await read(false, { limit: page.limit - first.length, offset: Math.max(0, page.offset - pending) });
  return { approvals: [...first, ...rest].map(toApproval), total: pending + ended };
}

const toApproval = (row: ApprovalRow): Approval => ({
  id: row.id,
  runId: row.run_id,
  stepName: row.step_name,
  kind: row.kind as Approval['kind'],
  pipelineName: row.pipeline_name,
  team: row.team,
  stage: row.stage as Stage,
  question: row.question,
  fields: JSON.parse(row.fields) as HumanField[],
  tool: row.tool === null ? null : toTool(JSON.parse(row.tool) as ToolRow),
  status: row.status as ApprovalStatus,
  requestedAt: row.requested_at,
  expiresAt: row.expires_at,
  decidedAt: row.decided_at,
  decidedBy: row.decided_by,
  comment: row.comment,
  answers: row.answers === null ? null : (JSON.parse(row.answers) as FieldValues),
});

/** What the outbox sent, or is to send, to ask for an approval. */
export async function messagesOf(db: Kysely<Tables>, { id, runId }: Pick<Approval, 'id' | 'runId'>) {
  const rows = await db
    .selectFrom('notifications')
    .select(['id', 'channel', 'status', 'source', 'message', 'receipt'])
    .where('run_id', '=', runId)
    .where('event', '=', 'approval')
    .execute();
  return rows
    .filter((row) => row.id.startsWith(`${runId}/approval/${id}/`))
    .map(({ channel, status, source, message, receipt }) => ({
      channel,
      status,
      source: JSON.parse(source) as ConfigSource,
      message: JSON.parse(message) as Message,
      receipt: receipt === null ? null : (JSON.parse(receipt) as Record<string, string>),
    }));
}
