import type { Mutant } from './mutant.ts';
import { LISTS, NOTIFY, REPLICAS } from './notify.ts';
import { APPROVALS, AUTH, EGRESS, POLICY } from './rights.ts';
import { GATE, RESUME } from './runs.ts';
import { DEDUP, FSYNC, MIGRATIONS, ROLL_UPS } from './store.ts';
import { TENANCY } from './tenancy.ts';

export const MUTANTS: readonly Mutant[] = [
  ...NOTIFY,
  ...REPLICAS,
  ...LISTS,
  ...GATE,
  ...APPROVALS,
  ...DEDUP,
  ...RESUME,
  ...FSYNC,
  ...MIGRATIONS,
  ...TENANCY,
  ...ROLL_UPS,
  ...AUTH,
  ...EGRESS,
  ...POLICY,
];
