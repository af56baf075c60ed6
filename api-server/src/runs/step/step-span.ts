import type { Span } from '../state/span.ts';
import type { StepExecution } from '../state/model.ts';
import { effectiveConfidence } from '../evidence/gate.ts';
import type { Begun, Ending } from '../evidence/step-execution.ts';
import type { StepContext } from '../state/step-context.ts';

const WORDS = { step: 'step', branch: 'branch', fan_out_branch: 'branch' } as const;

/** The span of a step or branch, from its row (Orchestration 6). */
export const startSpan = ({ span, kind, run }: StepContext, row: StepExecution): Span =>
  span.child(`${WORDS[kind]}: ${row.stepName}`, {
    'service.span.kind': WORDS[kind],
    'service.run.id': run.id,
    'service.pipeline.name': run.pipeline.name,
    'service.step.name': row.stepName,
    'service.executor': row.executor,
    'service.agent': row.agent,
    'service.model': row.model,
    'service.prompt_hash': row.promptHash,
  });

export function endSpan({ span, facts }: Begun, { status, error, evidence }: Ending): void {
  span.end(
    {
      'service.step.status': status,
      'service.confidence': evidence && effectiveConfidence(evidence),
      ...(facts && {
        'service.model': facts.model,
        'service.provider': facts.provider,
        'service.agent_version': facts.agentVersion,
      }),
    },
    status === 'failed' ? (error?.type ?? 'failed') : null,
  );
}
