import type { Message } from '../../../api-server/src/notify/message.ts';
import type { EndedStep, TriggerContext } from '../../../api-server/src/runs/state/model.ts';
import type { EndedRunRecord } from '../../../api-server/src/runs/state/records.ts';
import { auditEntry } from '../../../api-server/src/service/audit/record.ts';
import type { Tx } from '../../../api-server/src/store/db/database.ts';
import { insertApproval } from '../../../api-server/src/store/tables/approvals.ts';
import { insertAudit } from '../../../api-server/src/store/tables/audit.ts';
import { insertDelivery } from '../../../api-server/src/store/tables/deliveries.ts';
import { insertNotifications } from '../../../api-server/src/store/tables/outbox.ts';
import { createRandom, idAt } from './random.ts';

/** Deliveries that started no run, approvals and sent messages, in percent of the runs. */
const WITHOUT_RUN = 10;
const ASKED = 5;
const SENT = 10;
const NO_RUN = ['deduplicated', 'deduplicated', 'deduplicated', 'skipped_testing', 'no_pipeline'] as const;
const BENCH = { name: 'bench', kind: 'token', role: 'operator', requestId: null } as const;

export interface Around {
  number: number;
  context: TriggerContext;
  run: EndedRunRecord;
  steps: readonly EndedStep[];
}

/** What is stored beside a run: its delivery, others that started none, messages, approvals, and who did what. */
export async function storeAround(tx: Tx, { number, context, run, steps }: Around): Promise<void> {
  // Draws of its own: the runs of a seed stay the same whatever is stored beside them.
  const random = createRandom(number);
  const { receivedAt, source, summary, severity, labels, fingerprint, raw } = context;
  const { id: runId, pipeline_name: pipeline, completed_at: at } = run;
  const delivery = {
    receivedAt,
    source,
    summary,
    severity,
    labels,
    fingerprint,
    pipeline,
    detail: null,
    tokenName: 'bench',
    team: null,
    strategy: null,
    allowTesting: false,
    alerts: null,
    closest: [],
    rawTruncated: false,
  };
  await insertDelivery(tx, { ...delivery, outcome: 'accepted', statusCode: 202, runId, raw: null });
  if (random.chance(WITHOUT_RUN)) {
    const outcome = NO_RUN[random.below(NO_RUN.length)] ?? 'no_pipeline';
    const statusCode = outcome === 'no_pipeline' ? 422 : 202;
    await insertDelivery(tx, { ...delivery, outcome, statusCode, runId: null, raw: JSON.stringify(raw) });
  }
  const [step] = steps;
  if (step && random.chance(ASKED)) await storeApproval(tx, { run, step, id: idAt(at, random) });
  if (random.chance(SENT)) await storeMessage(tx, run);
}

async function storeApproval(tx: Tx, { run, step, id }: Pick<Around, 'run'> & { step: EndedStep; id: string }) {
  const decidedAt = step.startedAt + 60_000;
  await insertApproval(tx, {
    id,
    runId: run.id,
    stepName: step.stepName,
    kind: 'step',
    pipelineName: step.pipelineName,
    team: step.team,
    stage: step.stage,
    question: 'Restart it?',
    fields: [],
    tool: null,
    status: 'approved',
    requestedAt: step.startedAt,
    expiresAt: step.startedAt + 600_000,
    decidedAt,
    decidedBy: BENCH.name,
    comment: null,
    answers: {},
    required: 1,
    notTheStarter: false,
    votes: [],
  });
  const decided = { targetType: 'approval', target: id, runId: run.id, outcome: 'approved' } as const;
  await insertAudit(tx, auditEntry(BENCH, decidedAt, { action: 'approve', ...decided }));
}

async function storeMessage(tx: Tx, { id: runId, pipeline_name: pipeline, status, ...run }: EndedRunRecord) {
  const { completed_at: createdAt, team, trust, threshold } = run;
  const [event, stage] = ['escalate', 'production'] as const;
  const message: Message = {
    event,
    at: new Date(createdAt).toISOString(),
    pipeline,
    runId,
    status,
    team,
    stage,
    severity: null,
    summary: null,
    step: null,
    reason: null,
    trust,
    threshold,
    url: null,
    text: [{ kind: 'author', text: `The run of ${pipeline} ended: ${status}.` }],
    link: null,
    buttons: [],
  };
  const id = `${runId}/${event}/operator/slack`;
  const [channel, insteadOf, source] = ['slack', null, { from: 'operator' }] as const;
  await insertNotifications(tx, [
    { id, runId, pipeline, stage, event, channel, insteadOf, source, message, createdAt },
  ]);
  const sent = { status: 'sent', attempts: 1, ended_at: createdAt };
  await tx.db.updateTable('notifications').set(sent).where('id', '=', id).execute();
}
