import type { AgentVersion } from './agent-versions.ts';
import type { Bucket, CalibrationRule } from './calibration.ts';
import type { PromptVersion } from './prompt-versions.ts';

/** What the past says of steps and agents: the same for routes and pages (Orchestration 4.4). */
export interface History {
  /** Where nobody asks for another one. */
  readonly rule: CalibrationRule;
  calibration(stepName: string, rule: CalibrationRule, signal: AbortSignal): Promise<Bucket[]>;
  /** Null for a name under which nothing ever ran. */
  promptVersions(stepName: string, signal: AbortSignal): Promise<PromptVersion[] | null>;
  /** Of an agent of the gateway; none where it was never used. */
  agentVersions(agent: string, signal: AbortSignal): Promise<AgentVersion[]>;
}
