import { promptHash } from '@signalbox/crds';
import type { LoadedPipeline } from '../../../api-server/src/definitions/snapshot.ts';
import type {
  EndedStep,
  RunEvent,
  TerminalRunStatus,
  TriggerContext,
} from '../../../api-server/src/runs/state/model.ts';
import type { EndedRunRecord } from '../../../api-server/src/runs/state/records.ts';
import { idAt, type Random } from './random.ts';
import { agentOf, modelOf, providerOf, stageOf, stepName, stepsOf, teamOf } from './shape.ts';

/** What one run of the history is made from. */
export interface MadeRun {
  id: string;
  number: number;
  loaded: LoadedPipeline;
  edition: number;
  triggeredAt: number;
  random: Random;
}

/** Ends of runs in percent; the rest completes. */
const ENDS: readonly (readonly [TerminalRunStatus, number])[] = [
  ['escalated', 5],
  ['failed', 2],
  ['aborted', 1],
  ['stopped', 1],
];

export function endOf({ next }: Random): TerminalRunStatus {
  let left = next() * 100;
  for (const [status, percent] of ENDS) {
    left -= percent;
    if (left < 0) return status;
  }
  return 'completed';
}

/** A delivery of 1 to 4 KB. */
export function contextOf({ number, triggeredAt, random }: MadeRun): TriggerContext {
  const service = `service-${random.below(40)}`;
  const summary = `${service}: ${random.text(60)}`;
  const labels = { alertname: `Alert${random.below(200)}`, service, region: `region-${random.below(4)}` };
  return {
    source: 'alertmanager',
    pipeline: null,
    severity: random.chance(30) ? 'critical' : 'warning',
    labels,
    annotations: { description: random.text(200) },
    summary,
    fingerprint: number.toString(16).padStart(16, '0'),
    metadata: {},
    raw: { labels, summary, body: random.text(800 + random.below(3_000)) },
    receivedAt: triggeredAt,
  };
}

export function stepsOfRun(run: MadeRun, pipeline: number, end: TerminalRunStatus): EndedStep[] {
  const numbers = stepsOf(pipeline);
  // A run that does not complete ends with one of its steps.
  const last = end === 'completed' ? numbers.length : 1 + run.random.below(numbers.length);
  let at = run.triggeredAt + 5;
  return numbers.slice(0, last).map((step, index) => {
    const status = index === last - 1 ? end : 'completed';
    const made = stepOf(run, { pipeline, step, index, status, at });
    at = made.completedAt + 5;
    return made;
  });
}

interface At {
  pipeline: number;
  step: number;
  index: number;
  status: TerminalRunStatus;
  at: number;
}

function stepOf({ id, loaded, edition, random }: MadeRun, { pipeline, step, index, status, at }: At): EndedStep {
  const draw = random.chance(90) ? step : random.below(60);
  const confidence = Math.round((0.5 + random.next() * 0.5) * 100) / 100;
  const tokens = { input: Math.floor(random.around(3_000)), output: Math.floor(random.around(400)) };
  const cost = (tokens.input * 2 + tokens.output * 8) / 1e6;
  const answered = { agent: agentOf(step), model: modelOf(draw), provider: providerOf(draw) };
  const used = { inputTokens: tokens.input, outputTokens: tokens.output, cost };
  const passed = status === 'completed';
  return {
    ...answered,
    ...used,
    id: idAt(at, random),
    runId: id,
    pipelineName: loaded.name,
    team: teamOf(pipeline),
    stage: stageOf(pipeline),
    stepName: stepName(step),
    stepIndex: index,
    kind: 'step',
    executor: 'gateway',
    status,
    primaryConfidence: confidence,
    verifierConfidence: null,
    effectiveConfidence: confidence,
    groundingScore: random.chance(20) ? confidence : null,
    deterministicPassed: random.chance(20) ? random.chance(97) : null,
    checks: [],
    trustReport: {
      signals: [{ signal: 'confidence', value: confidence, enforced: true }],
      trust: confidence,
      threshold: 0.7,
      passed,
      action: passed ? 'pass' : 'escalate',
      sentence: `The answer has a confidence of ${confidence}.`,
      cost,
    },
    promptHash: promptHash(promptOf(loaded, index)),
    agentVersion: `v${edition}`,
    costSource: 'manual',
    unpricedCalls: null,
    startedAt: at,
    completedAt: at + Math.floor(random.around(12_000)),
    attempts: 1,
    summary: random.text(120),
    output: { action: random.text(30), detail: random.text(300) },
    nextStepContext: null,
    rawResponse: {
      prompt: random.text(600 + random.below(1_200)),
      text: random.text(500),
      trace: [{ tool: 'read_metrics', result: random.text(500 + random.below(1_500)) }],
      costs: [{ part: 'answer', executor: 'gateway', calls: 1, ...answered, ...used, source: 'manual' }],
    },
    artifacts: [],
    error: status === 'failed' ? { type: 'timeout', message: 'the agent did not answer in time' } : null,
  };
}

function promptOf({ config }: LoadedPipeline, index: number): string {
  const entry = config.steps[index];
  return entry !== undefined && 'prompt_template' in entry ? (entry.prompt_template ?? '') : '';
}

export function eventsOf({ random }: MadeRun, steps: readonly EndedStep[]): RunEvent[] {
  const lines = steps.flatMap((step) => [
    { at: step.startedAt, event: 'step_started', msg: `step ${step.stepName} started`, step_name: step.stepName },
    { at: step.completedAt, event: 'tool_called', msg: 'read_metrics', detail: random.text(300) },
    {
      at: step.completedAt,
      event: 'step_ended',
      msg: `step ${step.stepName} ${step.status}`,
      step_name: step.stepName,
    },
  ]);
  return lines.map(({ at, ...line }, n) => ({ seq: n + 1, ts: new Date(at).toISOString(), level: 'info', ...line }));
}

export function endRecord(run: MadeRun, steps: readonly EndedStep[], status: TerminalRunStatus): EndedRunRecord {
  const [last] = steps.slice(-1);
  if (last === undefined) throw new Error('a run of the history has a step at least');
  const failed = status === 'failed';
  const sum = (pick: (step: EndedStep) => number | null) => steps.reduce((total, step) => total + (pick(step) ?? 0), 0);
  const { name, config } = run.loaded;
  return {
    id: run.id,
    status,
    completed_at: last.completedAt + 5,
    error_step: failed ? last.stepName : null,
    error_message: failed ? 'the agent did not answer in time' : null,
    trust: last.effectiveConfidence,
    threshold: 0.7,
    input_tokens: sum(({ inputTokens }) => inputTokens),
    output_tokens: sum(({ outputTokens }) => outputTokens),
    cost: sum(({ cost }) => cost),
    unpriced_steps: 0,
    warning_count: 0,
    pipeline_name: name,
    stage: config.stage,
    team: last.team,
    triggered_at: run.triggeredAt,
    parent_run_id: null,
    rerun_of: null,
  };
}
