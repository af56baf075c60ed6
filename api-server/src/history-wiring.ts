import { type AgentVersion, agentVersions } from './analytics/agent-versions.ts';
import { type Bucket, calibrate, type CalibrationRule } from './analytics/calibration.ts';
import { type PromptVersion, promptVersions } from './analytics/prompt-versions.ts';
import type { Calibration } from './runs/calibrated-means.ts';
import { agentUses } from './store/agent-versions.ts';
import type { Database } from './store/database.ts';
import { promptUses } from './store/prompt-versions.ts';
import type { Uses } from './versions/uses.ts';

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

interface HistoryParts {
  database: Pick<Database, 'reader'>;
  calibration: Pick<Calibration, 'read'>;
  uses: Pick<Uses, 'flush'>;
  rule: CalibrationRule;
}

export function createHistory({ database, calibration, uses, rule }: HistoryParts): History {
  /** Where the database refuses, the reads behind it say so. */
  const upToDate = () => uses.flush().catch(() => undefined);
  const buckets: History['calibration'] = async (stepName, given, signal) =>
    calibrate(await calibration.read(stepName, signal), given);
  return {
    rule,
    calibration: buckets,
    promptVersions: async (stepName, signal) => {
      await upToDate();
      const found = await promptUses(database.reader(signal), stepName);
      return found && promptVersions(found, await buckets(stepName, rule, signal));
    },
    agentVersions: async (agent, signal) => {
      await upToDate();
      return agentVersions(await agentUses(database.reader(signal), agent));
    },
  };
}
