import type { Tx } from '../../store/db/database.ts';
import { type AuditEntry, insertAudit } from '../../store/tables/audit.ts';
import type { Actor } from '../actor.ts';

/** The action; the other fields of the row are the actor, the time and the request id. */
export type Action = Pick<AuditEntry, 'action' | 'targetType' | 'target' | 'outcome'> &
  Partial<Pick<AuditEntry, 'runId' | 'priorYaml'>>;

/**
 * Stores a row of the audit log (Orchestration 2.12), for what changes nothing in the database, or not in one transaction:
 * `recordIn` is for all else. Rejects where it cannot be stored.
 */
export type RecordAction = (actor: Actor, action: Action) => Promise<void>;

/** The row of an action, for the transaction that carries it out. */
export const auditEntry = (
  actor: Pick<Actor, 'name' | 'kind' | 'requestId'> & { role: string | null },
  at: number,
  action: Action,
): AuditEntry => ({
  ts: at,
  actor: actor.name,
  actorKind: actor.kind,
  role: actor.role,
  requestId: actor.requestId,
  runId: null,
  priorYaml: null,
  ...action,
});

/** Stores the row with what it is about: none is there without the other. */
export const recordIn = (tx: Tx, actor: Actor, at: number, action: Action): Promise<void> =>
  insertAudit(tx, auditEntry(actor, at, action));

interface RecordDeps {
  audit(entry: AuditEntry): Promise<void>;
  now(): number;
}

export const createRecord =
  ({ audit, now }: RecordDeps): RecordAction =>
  (actor, action) =>
    audit(auditEntry(actor, now(), action));
