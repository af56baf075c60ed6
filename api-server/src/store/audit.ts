import type { Tx } from './database.ts';
import { statement } from './statement.ts';

/** One row of the audit log (Orchestration 2.12, Design 5). Never holds a token or a request body. */
export interface AuditEntry {
  /** Milliseconds. */
  ts: number;
  actor: string;
  actorKind: 'token' | 'chat' | 'system';
  role: string | null;
  action: string;
  targetType: string;
  target: string | null;
  runId: string | null;
  outcome: string;
  /** The YAML before a pipeline or step write. */
  priorYaml: string | null;
  requestId: string | null;
}

const insertAuditRow = statement<AuditEntry>((db, slot) =>
  db.insertInto('audit').values({
    ts: slot.ts,
    actor: slot.actor,
    actor_kind: slot.actorKind,
    role: slot.role,
    action: slot.action,
    target_type: slot.targetType,
    target: slot.target,
    run_id: slot.runId,
    outcome: slot.outcome,
    prior_yaml: slot.priorYaml,
    request_id: slot.requestId,
  }),
);

export async function insertAudit(tx: Tx, entry: AuditEntry): Promise<void> {
  await tx.run(insertAuditRow, entry);
}
