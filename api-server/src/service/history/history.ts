import { AppError } from '@signalbox/crds';
import { agentVersions } from '../../analytics/agent-versions.ts';
import { calibrate, type CalibrationRule } from '../../analytics/calibration.ts';
import { promptVersions } from '../../analytics/prompt-versions.ts';
import type { Calibration } from '../../analytics/calibrated-means.ts';
import { agentUses } from '../../store/tables/versions/agent-versions.ts';
import { labelledAnswers, labelledCounts } from '../../store/aggregates/calibration.ts';
import type { Database } from '../../store/db/database.ts';
import { knownPrompts, promptUses, withTemplates } from '../../store/aggregates/prompt-versions.ts';
import type { Uses } from '../../versions/uses.ts';
import { type BucketView, bucketView } from '../views/analytics/calibration.ts';
import {
  type AgentVersionView,
  agentVersionView,
  type PromptVersionView,
  promptVersionView,
} from '../views/analytics/versions.ts';

/** Editions that a history lists. */
const MOST_VERSIONS = 1_000;

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
  /** The prompts of a step and what its answers are worth, read once. Throws `not_found` for a step that never ran. */
  step(stepName: string, signal: AbortSignal): Promise<StepHistory>;
  /** Versions of a gateway agent. Throws `not_found` where it was never used. */
  agentVersions(agent: string, signal: AbortSignal): Promise<AgentVersionView[]>;
}

export interface StepHistory {
  /** Those of which stored executions have the step and a prompt, by name. */
  pipelines: string[];
  /** Of one pipeline, or of all of them together. */
  of(pipeline?: string): Promise<{ versions: PromptVersionView[]; buckets: BucketView[] }>;
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
  return {
    rule,
    calibration: async (stepName, { n_min: nMin = rule.nMin, bin_width: binWidth = rule.binWidth, pipeline }, signal) =>
      calibrate(
        (await calibration.read(stepName, signal)).filter((one) => pipeline === undefined || one.pipeline === pipeline),
        { nMin, binWidth },
      ).map(bucketView),
    step: async (stepName, signal) => {
      await upToDate();
      const db = database.reader(signal);
      const [counts, prompts] = await Promise.all([labelledCounts(db, stepName), knownPrompts(db, stepName)]);
      if (!prompts) throw new AppError('not_found', 'no step of this name has ever run');
      return {
        pipelines: [...new Set(prompts.stored.map(({ pipeline_name: name }) => name))].toSorted(),
        of: async (pipeline) => {
          const own = counts.filter((one) => pipeline === undefined || one.pipeline === pipeline);
          const buckets = calibrate(labelledAnswers(own, 'production'), rule);
          const uses = await withTemplates(db, promptUses(prompts, own, pipeline).slice(0, MOST_VERSIONS));
          const versions = promptVersions(uses, buckets);
          return { versions: versions.map(promptVersionView), buckets: buckets.map(bucketView) };
        },
      };
    },
    agentVersions: async (agent, signal) => {
      await upToDate();
      const versions = agentVersions(await agentUses(database.reader(signal), agent, MOST_VERSIONS));
      if (versions.length === 0)
        throw new AppError('not_found', 'no step has ever used an agent of this name of the gateway');
      return versions.map(agentVersionView);
    },
  };
}
