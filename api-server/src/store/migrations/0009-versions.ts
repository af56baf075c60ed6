import type { TableWords } from './table-words.ts';

/** Names are part of a key, and an entry of an index has a largest size; `versions/uses.ts` cuts at the same places. */
const cut = (column: string, most: number) => `substr(coalesce(${column}, ''), 1, ${most})`;

/**
 * Editions of prompts and agents, which outlive the runs that used them: texts under their hash, and which step used what
 * from when to when (an empty name where there is none). The index finds the few executions whose checks failed.
 */
export const versions = ({ integer, text, keyed }: TableWords): readonly string[] => [
  `CREATE TABLE prompt_templates (hash ${text} PRIMARY KEY, template ${text} NOT NULL) ${keyed}`,
  `CREATE TABLE version_uses (step_name ${text} NOT NULL, prompt_hash ${text} NOT NULL, executor ${text} NOT NULL, agent ${text} NOT NULL,
    agent_version ${text} NOT NULL, first_seen_at ${integer} NOT NULL, last_seen_at ${integer} NOT NULL,
    PRIMARY KEY (step_name, prompt_hash, executor, agent, agent_version)) ${keyed}`,
  `CREATE INDEX version_uses_by_agent ON version_uses (executor, agent, agent_version)`,
  `CREATE TABLE agent_versions (executor ${text} NOT NULL, agent ${text} NOT NULL, agent_version ${text} NOT NULL,
    soul_md ${text}, agent_yaml ${text}, note ${text}, wanted ${integer} NOT NULL, PRIMARY KEY (executor, agent, agent_version)) ${keyed}`,
  `INSERT INTO version_uses (step_name, prompt_hash, executor, agent, agent_version, first_seen_at, last_seen_at)
    SELECT family, coalesce(prompt_hash, ''), executor, ${cut('agent', 120)}, CASE WHEN executor = 'gateway' THEN ${cut('agent_version', 100)} ELSE '' END, min(started_at), max(started_at)
    FROM step_executions
    WHERE completed_at IS NOT NULL AND status <> 'skipped' AND coalesce(prompt_hash, agent_version) IS NOT NULL GROUP BY 1, 2, 3, 4, 5`,
  `INSERT INTO agent_versions (executor, agent, agent_version, wanted)
    SELECT executor, agent, agent_version, 1 FROM version_uses WHERE executor = 'gateway' AND agent <> '' AND agent_version <> '' GROUP BY 1, 2, 3`,
  `CREATE INDEX step_executions_failed_checks ON step_executions (family, run_id, step_name) WHERE deterministic_passed = 0`,
];
