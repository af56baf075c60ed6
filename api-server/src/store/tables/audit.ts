import type { Kysely, SelectQueryBuilder } from 'kysely';
import { camelCase, snakeCase } from '../../runs/state/key-case.ts';
import type { Tx } from '../db/database.ts';
import type { Tables } from '../db/schema.ts';

export const ACTOR_KINDS = ['token', 'chat', 'mcp', 'system'] as const;

/** What can be done, and to what; a new action or target is one more name here. */
export const AUDIT_ACTIONS = [
  'create',
  'update',
  'delete',
  'suspend',
  'resume',
  'reload',
  'run',
  'rerun',
  'cancel',
  'acknowledge',
  'resolve',
  'reopen',
  'mark',
  'withdraw_mark',
  'approve',
  'reject',
  'redeliver',
  'resend',
  'dismiss',
  'replay',
  'pin',
  'unpin',
  'note',
  'import',
  'archive',
  'restore',
] as const;
export const AUDIT_TARGETS = [
  'pipeline',
  'step',
  'definitions',
  'run',
  'approval',
  'delivery',
  'notification',
  'golden_set',
] as const;

/** One row of the audit log (Orchestration 2.12). Never holds a token or a request body. */
export interface AuditEntry {
  /** Milliseconds. */
  ts: number;
  actor: string;
  actorKind: (typeof ACTOR_KINDS)[number];
  role: string | null;
  action: (typeof AUDIT_ACTIONS)[number];
  targetType: (typeof AUDIT_TARGETS)[number];
  target: string | null;
  runId: string | null;
  outcome: string;
  /** The YAML before a pipeline or step write. */
  priorYaml: string | null;
  requestId: string | null;
}

export interface AuditRow extends AuditEntry {
  id: number;
}

/** Filters of `GET /audit`; times in milliseconds, `since` included, `until` not. */
export interface AuditFilter {
  actor?: string;
  role?: string;
  action?: string;
  targetType?: string;
  /** A name, or a run's id: then also what was decided and done within that run. */
  target?: string;
  since?: number;
  until?: number;
}

/** A person who acts through an assistant is the same person, and is audited as `mcp:<token name>`. */
export async function insertAudit(tx: Tx, entry: AuditEntry): Promise<void> {
  const actor = entry.actorKind === 'mcp' ? `mcp:${entry.actor}` : entry.actor;
  await tx.db
    .insertInto('audit')
    .values(snakeCase({ ...entry, actor }))
    .execute();
}

type Query = SelectQueryBuilder<Tables, 'audit', object>;

const EQUAL = { actor: 'actor', role: 'role', action: 'action', targetType: 'target_type' } as const;

function filtered(db: Kysely<Tables>, filter: AuditFilter): Query {
  let query: Query = db.selectFrom('audit');
  for (const [key, column] of Object.entries(EQUAL)) {
    const value = filter[key as keyof typeof EQUAL];
    if (value !== undefined) query = query.where(column, '=', value);
  }
  const { target } = filter;
  if (target !== undefined) query = query.where((is) => is.or([is('target', '=', target), is('run_id', '=', target)]));
  if (filter.since !== undefined) query = query.where('ts', '>=', filter.since);
  if (filter.until !== undefined) query = query.where('ts', '<', filter.until);
  return query;
}

/** The log, newest first, with how many rows the filter finds. */
export async function listAudit(
  db: Kysely<Tables>,
  filter: AuditFilter,
  page: { limit: number; offset: number },
): Promise<{ rows: AuditRow[]; total: number }> {
  const rows = await filtered(db, filter)
    .selectAll()
    .orderBy('id', 'desc')
    .limit(page.limit)
    .offset(page.offset)
    .execute();
  const { n } = await filtered(db, filter)
    .select(({ fn }) => fn.countAll<number | string>().as('n'))
    .executeTakeFirstOrThrow();
  return { rows: rows.map(toRow), total: Number(n) };
}

const toRow = (row: Omit<Tables['audit'], 'id'> & { id: number }): AuditRow => ({
  ...camelCase(row),
  actorKind: row.actor_kind as AuditEntry['actorKind'],
  action: row.action as AuditEntry['action'],
  targetType: row.target_type as AuditEntry['targetType'],
});
