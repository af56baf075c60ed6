import { agentVersions } from '../../analytics/agent-versions.ts';
import { calibrate, type CalibrationRule } from '../../analytics/calibration.ts';
import type { History } from '../../analytics/history.ts';
import { promptVersions } from '../../analytics/prompt-versions.ts';
import type { Calibration } from '../../analytics/calibrated-means.ts';
import { agentUses } from '../../store/tables/agent-versions.ts';
import type { Database } from '../../store/db/database.ts';
import { promptUses } from '../../store/aggregates/prompt-versions.ts';
import type { Uses } from '../../versions/uses.ts';

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
