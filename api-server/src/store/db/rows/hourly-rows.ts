import { family, hourOf, keyName } from '../../../runs/state/hourly.ts';

/** One row of the sums of ended runs: of the hour in which they were triggered, in milliseconds. */
export interface HourlyRun {
  hour: number;
  pipeline_name: string;
  stage: string;
  team: string;
  status: string;
  runs: number;
  duration_ms: number;
}

/** One row of the sums of ended step executions: of the hour in which they started, in milliseconds. */
export interface HourlyStep {
  hour: number;
  /** Branches of a fan-out under the name before the slash. */
  step_name: string;
  pipeline_name: string;
  stage: string;
  team: string;
  agent: string;
  provider: string;
  model: string;
  cost_source: string;
  status: string;
  executions: number;
  /** Executions that reported tokens. */
  reporting: number;
  input_tokens: number;
  output_tokens: number;
  /** Of the calls that are priced. */
  cost: number;
  /** Executions with a call that reported tokens and has no price. */
  unpriced: number;
  duration_ms: number;
}

/** What the end of a run or a step adds to the sums of its hour. */
export type HourlySum = { table: 'hourly_runs'; row: HourlyRun } | { table: 'hourly_steps'; row: HourlyStep };

export interface RunOfHour {
  pipeline_name: string;
  stage: string;
  team: string | null;
  status: string;
  triggered_at: number;
  completed_at: number;
}

export const hourlyRun = (run: RunOfHour): HourlyRun => ({
  hour: hourOf(run.triggered_at),
  pipeline_name: run.pipeline_name,
  stage: run.stage,
  team: keyName('team', run.team),
  status: run.status,
  runs: 1,
  duration_ms: run.completed_at - run.triggered_at,
});

export interface StepOfHour {
  step_name: string;
  pipeline_name: string;
  stage: string;
  team: string | null;
  agent: string | null;
  provider: string | null;
  model: string | null;
  status: string;
  input_tokens: number | null;
  output_tokens: number | null;
  cost: number | null;
  cost_source: string | null;
  unpriced_calls: number | null;
  started_at: number;
  completed_at: number;
}

export function hourlyStep(step: StepOfHour): HourlyStep {
  const reports = step.input_tokens !== null || step.output_tokens !== null;
  return {
    hour: hourOf(step.started_at),
    step_name: family(step.step_name),
    pipeline_name: step.pipeline_name,
    stage: step.stage,
    team: keyName('team', step.team),
    agent: keyName('agent', step.agent),
    provider: keyName('provider', step.provider),
    model: keyName('model', step.model),
    cost_source: step.cost_source ?? '',
    status: step.status,
    executions: 1,
    reporting: Number(reports),
    input_tokens: step.input_tokens ?? 0,
    output_tokens: step.output_tokens ?? 0,
    cost: step.cost ?? 0,
    unpriced: Number((step.unpriced_calls ?? 0) > 0 || (reports && step.cost === null)),
    duration_ms: step.completed_at - step.started_at,
  };
}
