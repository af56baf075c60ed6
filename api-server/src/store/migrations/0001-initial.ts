import type { TableWords } from './table-words.ts';

/** Runs, steps, events, marks, roll-ups and the audit log. */
export const initial = ({ autoId, integer, real, text, table, keyed }: TableWords): string[] => [
  `CREATE TABLE definitions (hash ${text} PRIMARY KEY, kind ${text} NOT NULL, name ${text} NOT NULL, body ${text} NOT NULL, stored_at ${integer} NOT NULL) ${table}`,
  `CREATE TABLE runs (
    seq ${autoId}, id ${text} NOT NULL UNIQUE, pipeline_name ${text} NOT NULL, definition_hash ${text} NOT NULL,
    source ${text} NOT NULL, status ${text} NOT NULL, team ${text}, stage ${text} NOT NULL, severity ${text}, summary ${text},
    triggered_at ${integer} NOT NULL, completed_at ${integer}, fingerprint ${text}, dedup_key ${text}, parent_run_id ${text}, rerun_of ${text},
    waiting_on ${text}, error_step ${text}, error_message ${text}, trust ${real}, threshold ${real},
    input_tokens ${integer} NOT NULL, output_tokens ${integer} NOT NULL, cost ${real}, unpriced_steps ${integer} NOT NULL,
    context ${text} NOT NULL, raw ${text}) ${table}`,
  // At most one live run per (pipeline, dedup key): the store enforces it (Orchestration 4.1).
  `CREATE UNIQUE INDEX runs_one_live ON runs (pipeline_name, dedup_key)
    WHERE dedup_key IS NOT NULL AND status IN ('queued', 'running', 'interrupted')`,
  `CREATE INDEX runs_dedup ON runs (dedup_key, pipeline_name, triggered_at) WHERE dedup_key IS NOT NULL`,
  `CREATE INDEX runs_by_status ON runs (status, seq)`,
  `CREATE INDEX runs_by_pipeline ON runs (pipeline_name, seq)`,
  `CREATE INDEX runs_by_parent ON runs (parent_run_id) WHERE parent_run_id IS NOT NULL`,
  `CREATE TABLE step_executions (
    run_id ${text} NOT NULL REFERENCES runs (id) ON DELETE CASCADE, step_index ${integer} NOT NULL, step_name ${text} NOT NULL,
    id ${text} NOT NULL UNIQUE, kind ${text} NOT NULL, executor ${text} NOT NULL, agent ${text}, model ${text}, provider ${text},
    status ${text} NOT NULL, pipeline_name ${text} NOT NULL, team ${text}, stage ${text} NOT NULL,
    primary_confidence ${real}, verifier_confidence ${real}, effective_confidence ${real}, grounding_score ${real}, deterministic_passed ${integer},
    prompt_hash ${text}, agent_version ${text}, input_tokens ${integer}, output_tokens ${integer}, cost ${real}, cost_source ${text},
    started_at ${integer} NOT NULL, completed_at ${integer}, attempts ${integer} NOT NULL, summary ${text}, error_type ${text}, error_message ${text},
    trust_report ${text}, checks ${text}, artifacts ${text}, next_step_context ${text}, output ${text}, raw_response ${text}) ${table}`,
  `CREATE UNIQUE INDEX step_executions_by_run ON step_executions (run_id, step_name)`,
  `CREATE TABLE run_events (run_id ${text} NOT NULL REFERENCES runs (id) ON DELETE CASCADE, first_seq ${integer} NOT NULL, events ${text} NOT NULL,
    PRIMARY KEY (run_id, first_seq)) ${keyed}`,
  `CREATE TABLE run_feedback (run_id ${text} PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE, outcome ${text} NOT NULL, notes ${text},
    submitted_at ${integer} NOT NULL, submitted_by ${text} NOT NULL) ${table}`,
  `CREATE TABLE step_feedback (run_id ${text} NOT NULL REFERENCES runs (id) ON DELETE CASCADE, step_name ${text} NOT NULL, outcome ${text} NOT NULL,
    notes ${text}, submitted_at ${integer} NOT NULL, submitted_by ${text} NOT NULL, PRIMARY KEY (run_id, step_name)) ${table}`,
  `CREATE TABLE counters (metric ${text} NOT NULL, labels ${text} NOT NULL, value ${real} NOT NULL, PRIMARY KEY (metric, labels)) ${keyed}`,
  `CREATE TABLE audit (id ${autoId}, ts ${integer} NOT NULL, actor ${text} NOT NULL, actor_kind ${text} NOT NULL, role ${text},
    action ${text} NOT NULL, target_type ${text} NOT NULL, target ${text}, run_id ${text}, outcome ${text} NOT NULL, prior_yaml ${text}, request_id ${text}) ${table}`,
  `CREATE INDEX audit_by_time ON audit (ts)`,
];
