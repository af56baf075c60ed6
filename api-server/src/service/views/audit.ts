import { z } from 'zod';
import { ACTOR_KINDS, AUDIT_ACTIONS, AUDIT_TARGETS, type AuditRow } from '../../store/tables/audit.ts';
import { component, iso, NullableText, Time, viewOf } from './answer.ts';

const ROW = {
  id: 812,
  ts: '2026-11-02T09:31:12.000Z',
  actor: 'on-call',
  actor_kind: 'token',
  role: 'operator',
  action: 'cancel',
  target_type: 'run',
  target: '01a1febd-87d9-73c1-984a-8e11a3329cb6',
  run_id: '01a1febd-87d9-73c1-984a-8e11a3329cb6',
  outcome: 'cancelled',
  prior_yaml: null,
  request_id: '5c1f09ab-2d',
} as const;

/** What the filters of the log offer. */
export const AUDIT_FILTERS = { actions: AUDIT_ACTIONS, targets: AUDIT_TARGETS } as const;

/** One row of `GET /audit` (Orchestration 2.12). */
export const AuditLine = component(
  'AuditRow',
  z.strictObject({
    id: z.number(),
    ts: Time,
    actor: z.string(),
    actor_kind: z.enum(ACTOR_KINDS),
    role: NullableText,
    action: z.string(),
    target_type: z.string(),
    target: NullableText,
    run_id: NullableText,
    outcome: z.string(),
    /** The YAML before a write of a pipeline or step. */
    prior_yaml: NullableText,
    request_id: NullableText,
  }),
  ROW,
);
export type AuditLine = z.infer<typeof AuditLine>;

export const AuditPage = component(
  'AuditPage',
  z.strictObject({ rows: z.array(AuditLine), limit: z.number(), offset: z.number(), total: z.number() }),
  { rows: [ROW], limit: 50, offset: 0, total: 1 },
);
export type AuditPage = z.infer<typeof AuditPage>;

export const auditView = (row: AuditRow): AuditLine => viewOf(AuditLine, row, { ts: iso(row.ts) });
