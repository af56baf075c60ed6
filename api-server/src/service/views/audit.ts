import type { AuditRow } from '../../store/tables/audit.ts';
import { iso } from './views.ts';

/** One row of `GET /audit` (Design 5). */
export const auditView = (row: AuditRow) => ({
  id: row.id,
  ts: iso(row.ts),
  actor: row.actor,
  actor_kind: row.actorKind,
  role: row.role,
  action: row.action,
  target_type: row.targetType,
  target: row.target,
  run_id: row.runId,
  outcome: row.outcome,
  prior_yaml: row.priorYaml,
  request_id: row.requestId,
});
