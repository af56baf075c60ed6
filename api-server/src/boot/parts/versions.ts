import { keepTexts, wantedVersions } from '../../store/tables/versions/agent-versions.ts';
import type { Database } from '../../store/db/database.ts';
import { storeUses } from '../../store/tables/versions/version-uses.ts';
import { type AgentTexts, type AgentTextsDeps, createAgentTexts } from '../../versions/agent-texts.ts';
import { createUses, type Uses } from '../../versions/uses.ts';

export interface VersionParts extends Pick<AgentTextsDeps, 'ask' | 'log'> {
  database: Database;
}

/** Records the versions of prompts and agents that are used, and fetches the texts of agents. */
export function wireVersions({ database, ask, log }: VersionParts): { uses: Uses; texts: AgentTexts } {
  const texts = createAgentTexts({
    wanted: (limit) => wantedVersions(database.db, limit),
    ask,
    keep: (found) => database.write((tx) => keepTexts(tx, found)),
    later: (milliseconds, call) => {
      const timer = setTimeout(call, milliseconds).unref();
      return () => clearTimeout(timer);
    },
    log,
  });
  const uses = createUses({
    store: (batch) => database.write((tx) => storeUses(tx, batch)),
    stored: texts.heard,
    log,
  });
  return { uses, texts };
}
