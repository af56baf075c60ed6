import type { Database } from './store/database.ts';
import { promptUses } from './store/prompt-versions.ts';
import { storeUses } from './store/version-uses.ts';
import type { PromptUse } from './analytics/prompt-versions.ts';
import { createUses, type Uses, type UsesDeps } from './versions/uses.ts';

export interface Versions {
  uses: Uses;
  promptUses(stepName: string): Promise<PromptUse[] | null>;
}

/** Which editions of prompts and agents were used, and by what. */
export function wireVersions(database: Database, log: UsesDeps['log']): Versions {
  const uses = createUses({
    store: (batch) => database.write((tx) => storeUses(tx, batch)),
    stored: () => undefined,
    log,
  });
  return {
    uses,
    promptUses: (stepName) => promptUses(database.db, stepName),
  };
}
