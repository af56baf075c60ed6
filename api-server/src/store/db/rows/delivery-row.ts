import type { Generated } from 'kysely';

/** A delivery to the webhook as stored. */
export interface DeliveryRow {
  id: Generated<number>;
  received_at: number;
  source: string;
  outcome: string;
  status_code: number;
  pipeline: string | null;
  run_id: string | null;
  summary: string | null;
  severity: string | null;
  labels: string;
  fingerprint: string | null;
  detail: string | null;
  token_name: string | null;
  team: string | null;
  strategy: string | null;
  allow_testing: number;
  alerts: string | null;
  closest: string | null;
  raw: string | null;
  raw_truncated: number;
}
