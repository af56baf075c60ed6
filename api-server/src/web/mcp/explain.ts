import type { RunDetail } from '../../service/views/run.ts';
import type { StepDetail } from '../../service/views/step.ts';

/** Why a run ended as it did: only sentences that its evidence holds. */
export function explainRun(answer: unknown): string {
  const run = answer as RunDetail;
  const lines = [
    `Run ${run.id} of ${run.pipeline_name} (${run.stage}): ${run.status}.`,
    run.summary === null ? null : `Alert: ${run.summary}`,
    proposalOf(run),
    endOf(run),
    waitsFor(run),
    ...run.steps.flatMap(explainStep),
    attentionOf(run),
  ];
  return lines.filter((line) => line !== null).join('\n');
}

function proposalOf({ result }: RunDetail): string | null {
  if (result === null || result.actions.length === 0) return null;
  return `Proposed: ${result.actions.map(({ name, value }) => `${name} ${value}`).join(', ')}.`;
}

function waitsFor({ waiting_on: on }: RunDetail): string | null {
  if (on === null) return null;
  return on === 'human'
    ? 'It waits for the decision of a person: list_approvals has the question.'
    : `It waits for ${on.replace(':', ' ')}.`;
}

/** A gate says its sentence once, at its step. */
const repeatsGate = (step: StepDetail | undefined, message: string): boolean =>
  step?.trust_report?.sentence === message;

function endOf({ error, steps }: RunDetail): string | null {
  if (error === null) return null;
  const place = error.step === null ? 'the service' : `step ${error.step}`;
  const step = steps.find(({ step_name }) => step_name === error.step);
  return `It ended because of ${place}${repeatsGate(step, error.message) ? '.' : `: ${error.message}`}`;
}

function explainStep(step: StepDetail): (string | null)[] {
  const report = step.trust_report;
  return [
    `Step ${step.step_name}${step.agent === null ? '' : ` by ${step.agent}`}: ${step.status}.`,
    report && `  ${report.sentence}`,
    step.summary === null ? null : `  Conclusion: ${step.summary}`,
    ...(report?.warnings ?? []).map(({ message }) => `  Warning: ${message}`),
    step.error && !repeatsGate(step, step.error.message) ? `  Error ${step.error.type}: ${step.error.message}` : null,
  ];
}

function attentionOf({ attention, assignee, resolution }: RunDetail): string | null {
  if (attention === null) return null;
  const who = assignee === null ? '' : `, assigned to ${assignee}`;
  return `Attention: ${attention}${who}${resolution === null ? '' : `, ${resolution}`}.`;
}
