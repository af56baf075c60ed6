import type { TrustReport } from '../../../../service/views/step.ts';
import { plural } from '../../runs/row.ts';
import type { ShownStep } from './shown-step.ts';

type SignalName = TrustReport['signals'][number]['signal'];

interface Answered {
  agent: string | null;
  model: string | null;
  provider: string | null;
}

/** `reviewer on claude-haiku (anthropic)`. */
function whoAnswered({ agent, model, provider }: Answered): string {
  const on = model === null ? '' : ` on ${model}`;
  return `${agent ?? 'an agent'}${on}${provider === null ? '' : ` (${provider})`}`;
}

/** Who or what said how sure it is. */
function confidenceSource(step: ShownStep): string {
  const { executor, agent_version: version, raw_response: raw } = step;
  switch (executor) {
    case 'human':
      return 'the decision of a person';
    case 'pipeline':
      return 'the last gate of the sub-run';
    case 'parallel':
    case 'fan_out':
      return 'the trust of its branches';
    case 'webhook':
      return 'the answer of the webhook';
    case 'gateway':
    case 'external': {
      const iterations = (raw?.iterations_before?.length ?? 0) + 1;
      const last = iterations > 1 ? `, iteration ${iterations}` : '';
      return `${whoAnswered(step)}${version === null ? '' : `, version ${version}`}${last}`;
    }
    default:
      return executor satisfies never;
  }
}

/** What the judge was shown, as it was stored with its score. */
function groundingSource({ raw_response: raw }: ShownStep): string {
  const judge = raw?.grounding;
  if (judge === undefined) return '';
  const against =
    judge.sources === undefined ? 'what it was shown is not stored' : `against ${judge.sources.join(', ')}`;
  return `${whoAnswered(judge)}, ${against}`;
}

function checksSource({ checks }: ShownStep): string {
  const failed = checks.filter(({ passed }) => !passed);
  const names = (of: typeof checks) => of.map(({ name, type }) => `${name} (${type})`).join(', ');
  if (failed.length === 0) return names(checks);
  const others = checks.length - failed.length;
  return `failed: ${names(failed)}${others === 0 ? '' : `; ${plural(others, 'other')} passed`}`;
}

function calibrationSource({ agent, model, prompt_hash: prompt, agent_version: version }: ShownStep): string {
  const parts = [
    `agent ${agent ?? 'unknown'}`,
    ...(model === null ? [] : [`model ${model}`]),
    ...(prompt === null ? [] : [`prompt ${prompt}`]),
    ...(version === null ? [] : [`version ${version}`]),
  ];
  return `marked outcomes of ${parts.join(', ')}`;
}

/** What a signal of the evidence came from; empty where that is not stored. */
export function sourceOf(step: ShownStep, signal: SignalName): string {
  const verifier = step.raw_response?.verifier;
  switch (signal) {
    case 'confidence':
      return confidenceSource(step);
    case 'verifier':
      return verifier === undefined ? '' : whoAnswered(verifier);
    case 'grounding':
      return groundingSource(step);
    case 'checks':
      return checksSource(step);
    case 'calibration':
      return calibrationSource(step);
    default:
      return signal satisfies never;
  }
}
