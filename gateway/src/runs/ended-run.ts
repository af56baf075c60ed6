import type { RunMetadata } from '@signalbox/crds';
import { cutName } from './cut-name.ts';
import type { Caller } from '../identity/caller.ts';
import type { Run } from './run.ts';
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
  caller_run?: string | undefined;
  pipeline?: string | undefined;
  step?: string | undefined;
  team?: string | null | undefined;
}

/** To be called before the run is finished, which forgets its parameters. */
export function endedRun(
  run: Pick<Run, 'id' | 'params' | 'caller'>,
  outcome: RunOutcome,
  agent: { name: string; version: string },
  seconds: number,
): EndedRun {
  const { provider, model, usage } = outcome.ok ? outcome.result : outcome.partial;
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
    ...askedFor(run.params.metadata),
    ...run.caller,
  };
}

/** For what a caller asked, by its own names, in lengths that logs and traces can keep. */
export function askedFor({ run_id, pipeline, step_name, team }: RunMetadata = {}) {
  return {
    caller_run: run_id && cutName(run_id),
    pipeline: pipeline && cutName(pipeline),
    step: step_name && cutName(step_name),
    team: team && cutName(team),
  };
}
