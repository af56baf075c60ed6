import { AppError } from '@signalbox/crds';
import { agentVersions } from '../../analytics/agent-versions.ts';
import { calibrate, type CalibrationRule } from '../../analytics/calibration.ts';
import { promptVersions } from '../../analytics/prompt-versions.ts';
import type { Calibration } from '../../analytics/calibrated-means.ts';
import { agentUses } from '../../store/tables/versions/agent-versions.ts';
import { labelledAnswers, labelledCounts, labelledExecutions } from '../../store/aggregates/calibration.ts';
import type { Database } from '../../store/db/database.ts';
import { promptUses } from '../../store/aggregates/prompt-versions.ts';
import type { Uses } from '../../versions/uses.ts';
import { type BucketView, bucketView } from '../views/analytics/calibration.ts';
import {
  type AgentVersionView,
  agentVersionView,
  type PromptVersionView,
  promptVersionView,
} from '../views/analytics/versions.ts';

export interface HistoryDeps {
  database: Pick<Database, 'reader'>;
  calibration: Pick<Calibration, 'read'>;
  uses: Pick<Uses, 'flush'>;
  rule: CalibrationRule;
}

/** History of steps and agents (Orchestration 4.4). */
export interface History {
  /** The default. */
  readonly rule: CalibrationRule;
  calibration(stepName: string, asked: AskedRule, signal: AbortSignal): Promise<BucketView[]>;
  /** Throws `not_found` for a step that never ran. */
  promptVersions(stepName: string, signal: AbortSignal, pipeline?: string): Promise<PromptVersionView[]>;
  /** Versions of a gateway agent. Throws `not_found` where it was never used. */
  agentVersions(agent: string, signal: AbortSignal): Promise<AgentVersionView[]>;
}

interface AskedRule {
  /** All pipelines together without it. */
  pipeline?: string | undefined;
  n_min?: number | undefined;
  bin_width?: number | undefined;
}

export function createHistory({ database, calibration, uses, rule }: HistoryDeps): History {
  /** A failure of the database is reported by the reads that follow. */
  const upToDate = () => uses.flush().catch(() => undefined);
  const labelled = (stepName: string, signal: AbortSignal, pipelineName: string | undefined) =>
    pipelineName === undefined
      ? calibration.read(stepName, signal)
      : labelledExecutions(database.reader(signal), { stepName, stage: 'production', pipelineName });

  return {
    rule,
    calibration: async (stepName, { n_min: nMin = rule.nMin, bin_width: binWidth = rule.binWidth, pipeline }, signal) =>
      calibrate(await labelled(stepName, signal, pipeline), { nMin, binWidth }).map(bucketView),
    promptVersions: async (stepName, signal, pipeline) => {
      await upToDate();
      const db = database.reader(signal);
      const scope = { stepName, pipelineName: pipeline };
      const counts = await labelledCounts(db, scope);
      const found = await promptUses(db, scope, counts);
      if (!found) throw new AppError('not_found', 'no step of this name has ever run');
      const buckets = calibrate(labelledAnswers(counts, 'production'), rule);
      return promptVersions(found, buckets).map(promptVersionView);
    },
    agentVersions: async (agent, signal) => {
      await upToDate();
      const versions = agentVersions(await agentUses(database.reader(signal), agent));
      if (versions.length === 0)
        throw new AppError('not_found', 'no step has ever used an agent of this name of the gateway');
      return versions.map(agentVersionView);
    },
  };
}
