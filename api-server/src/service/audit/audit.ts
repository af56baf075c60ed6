import { z } from 'zod';
import { TOKEN_ROLES } from '../../config/auth-schema.ts';
import type { Database } from '../../store/db/database.ts';
import { listAudit } from '../../store/tables/audit.ts';
import { count, Instant, line } from '../fields.ts';
import { type AuditPage, auditView } from '../views/audit.ts';

export const AuditQuery = z.strictObject({
  actor: line().optional(),
  role: z.enum(TOKEN_ROLES).optional(),
  action: line().optional(),
  target_type: line().optional(),
  target: line().optional(),
  since: Instant.optional(),
  until: Instant.optional(),
  limit: count(1, 200).default(50),
  offset: count(0, 1_000_000_000).default(0),
});
export type AuditQuery = z.output<typeof AuditQuery>;

/** The audit log, newest first (Orchestration 2.12, 4.2). */
export interface AuditLog {
  list(query: AuditQuery): Promise<AuditPage>;
}

/** How long the search of the log may take; it is long after years, so it is read beside the event loop. */
const LIST_MS = 30_000;

export const createAuditLog = ({ reader }: Pick<Database, 'reader'>): AuditLog => ({
  list: async ({ limit, offset, target_type: targetType, ...filter }) => {
    const db = reader(AbortSignal.timeout(LIST_MS));
    const { rows, total } = await listAudit(db, { ...filter, targetType }, { limit, offset });
    return { rows: rows.map(auditView), limit, offset, total };
  },
});
