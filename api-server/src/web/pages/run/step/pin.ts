import { whyNoAnswer } from '../../../../service/golden-sets/pinnable.ts';
import { paths } from '../../paths.ts';
import type { ShownRun, ShownStep } from './shown-step.ts';

/** Where an answer can be pinned to a golden set; null for a step that no replay can repeat. */
export function pinOf({ id, replay_of }: Pick<ShownRun, 'id' | 'replay_of'>, step: ShownStep): string | null {
  const { step_name: name, status, executor, agent, primary_confidence: primaryConfidence } = step;
  const cannot = whyNoAnswer({
    batchId: replay_of === undefined ? null : id,
    status,
    executor,
    agent,
    primaryConfidence,
  });
  return cannot === null ? paths.goldenPin(id, name) : null;
}
