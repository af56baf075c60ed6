import type { RerunResult, RerunVerdict } from '../../web/routes/operations.ts';
import type { Snapshot } from '../../definitions/snapshot.ts';
import type { TriggerContext } from '../../runs/state/model.ts';
import type { RunRequest } from '../../runs/state/new-run.ts';
import { planRerun } from '../../runs/run/rerun.ts';
import type { Database } from '../../store/db/database.ts';
import { runDetail } from '../../store/tables/run-detail.ts';
import type { Verdict } from '../../triggers/model.ts';

export interface RerunParts {
  database: Database;
  definitions(): Snapshot;
  intake(requests: Omit<RunRequest, 'dedupKey'>[]): Promise<Verdict[]>;
}

/** Reads the original, plans, and takes the new run in like any other (Orchestration 4.1). */
export async function rerun(
  { database, definitions, intake }: RerunParts,
  runId: string,
  fromStep: string | null,
): Promise<RerunResult> {
  const detail = await runDetail(database.db, runId, { raw: true });
  if (!detail) return { kind: 'not_found' };
  const { run, steps, context, raw } = detail;
  const original = {
    id: run.id,
    status: run.status,
    pipelineName: run.pipelineName,
    context: { ...(context as unknown as TriggerContext), raw: raw ?? null },
    steps,
  };
  const plan = planRerun(definitions(), original, fromStep);
  if (plan.kind !== 'ready') return plan;
  const [verdict] = await intake([plan.request]);
  return { kind: 'started', verdict: verdict as RerunVerdict, fromStep: plan.fromStep, priorSteps: plan.priorSteps };
}
