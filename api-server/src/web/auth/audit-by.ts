import type { AuditEntry } from '../../store/tables/audit.ts';
import type { Caller } from './caller.ts';

export interface AuditDeps {
  audit(entry: AuditEntry): Promise<void>;
  now(): number;
}

/** What a route says of what it did; the rest of the row is who asked, when, and in which request. */
export type Deed = Pick<AuditEntry, 'action' | 'targetType' | 'target' | 'outcome'> &
  Partial<Pick<AuditEntry, 'runId' | 'priorYaml'>>;

/** Writes a row of the audit log for a request (Orchestration 2.12). Rejects where it cannot be stored. */
export function auditBy(
  { audit, now }: AuditDeps,
  { caller, request }: { caller: Pick<Caller, 'name' | 'role'>; request: { id: string } },
): (deed: Deed) => Promise<void> {
  return (deed) =>
    audit({
      ts: now(),
      actor: caller.name,
      actorKind: 'token',
      role: caller.role,
      runId: null,
      priorYaml: null,
      requestId: request.id,
      ...deed,
    });
}

export const cancelDeed = (runId: string): Deed => ({
  action: 'cancel',
  targetType: 'run',
  target: runId,
  runId,
  outcome: 'cancelled',
});
