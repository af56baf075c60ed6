import type { Caller, Run } from './run.ts';
import type { RunOutcome } from './run-outcome.ts';

/** What is on record of a run that ended: its figures and who asked for it, and nothing of what was said in it. */
export interface EndedRun extends Partial<Caller> {
  run_id: string;
  agent: string;
  agent_version: string;
  /** `completed`, or the type of the error. */
  status: string;
  seconds: number;
  provider?: string | null;
  model?: string | null;
  input_tokens?: number | null;
  output_tokens?: number | null;
  /** Of the caller's own run. */
  caller_run?: string;
  pipeline?: string;
  step?: string;
  team?: string | null;
}

/** To be called before the run is finished, which forgets its parameters. */
export function endedRun(
  run: Pick<Run, 'id' | 'params' | 'caller'>,
  outcome: RunOutcome,
  agent: { name: string; version: string },
  seconds: number,
): EndedRun {
  const { provider, model, usage } = outcome.ok ? outcome.result : outcome.partial;
  const { run_id: caller_run, pipeline, step_name: step, team } = run.params.metadata ?? {};
  return {
    run_id: run.id,
    agent: agent.name,
    agent_version: agent.version,
    status: outcome.ok ? 'completed' : outcome.type,
    seconds,
    provider,
    model,
    input_tokens: usage?.input_tokens,
    output_tokens: usage?.output_tokens,
    caller_run,
    pipeline,
    step,
    team,
    ...run.caller,
  };
}
