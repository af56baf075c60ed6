PRAGMA foreign_keys = OFF;
CREATE TABLE schema_migrations (id TEXT PRIMARY KEY, applied_at INTEGER NOT NULL) STRICT;
CREATE TABLE definitions (hash text PRIMARY KEY, kind text NOT NULL, name text NOT NULL, body text NOT NULL, stored_at integer NOT NULL) STRICT;
CREATE TABLE runs (
    seq integer PRIMARY KEY AUTOINCREMENT, id text NOT NULL UNIQUE, pipeline_name text NOT NULL, definition_hash text NOT NULL,
    source text NOT NULL, status text NOT NULL, team text, stage text NOT NULL, severity text, summary text,
    triggered_at integer NOT NULL, completed_at integer, fingerprint text, dedup_key text, parent_run_id text, rerun_of text,
    waiting_on text, error_step text, error_message text, trust real, threshold real,
    input_tokens integer NOT NULL, output_tokens integer NOT NULL, cost real, unpriced_steps integer NOT NULL,
    context text NOT NULL, raw text, owner integer) STRICT;
CREATE TABLE step_executions (
    run_id text NOT NULL REFERENCES runs (id) ON DELETE CASCADE, step_index integer NOT NULL, step_name text NOT NULL,
    id text NOT NULL UNIQUE, kind text NOT NULL, executor text NOT NULL, agent text, model text, provider text,
    status text NOT NULL, pipeline_name text NOT NULL, team text, stage text NOT NULL,
    primary_confidence real, verifier_confidence real, effective_confidence real, grounding_score real, deterministic_passed integer,
    prompt_hash text, agent_version text, input_tokens integer, output_tokens integer, cost real, cost_source text,
    started_at integer NOT NULL, completed_at integer, attempts integer NOT NULL, summary text, error_type text, error_message text,
    trust_report text, checks text, artifacts text, next_step_context text, output text, raw_response text) STRICT;
CREATE TABLE run_events (run_id text NOT NULL REFERENCES runs (id) ON DELETE CASCADE, first_seq integer NOT NULL, events text NOT NULL,
    PRIMARY KEY (run_id, first_seq)) STRICT, WITHOUT ROWID;
CREATE TABLE run_feedback (run_id text PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE, outcome text NOT NULL, notes text,
    submitted_at integer NOT NULL, submitted_by text NOT NULL) STRICT;
CREATE TABLE step_feedback (run_id text NOT NULL REFERENCES runs (id) ON DELETE CASCADE, step_name text NOT NULL, outcome text NOT NULL,
    notes text, submitted_at integer NOT NULL, submitted_by text NOT NULL, PRIMARY KEY (run_id, step_name)) STRICT;
CREATE TABLE counters (metric text NOT NULL, labels text NOT NULL, value real NOT NULL, PRIMARY KEY (metric, labels)) STRICT, WITHOUT ROWID;
CREATE TABLE audit (id integer PRIMARY KEY AUTOINCREMENT, ts integer NOT NULL, actor text NOT NULL, actor_kind text NOT NULL, role text,
    action text NOT NULL, target_type text NOT NULL, target text, run_id text, outcome text NOT NULL, prior_yaml text, request_id text) STRICT;
CREATE TABLE notifications (
    id text PRIMARY KEY, run_id text REFERENCES runs (id) ON DELETE CASCADE, pipeline_name text NOT NULL, stage text NOT NULL,
    event text NOT NULL, channel text NOT NULL, instead_of text, source text NOT NULL, message text NOT NULL,
    status text NOT NULL, attempts integer NOT NULL, due_at integer NOT NULL, created_at integer NOT NULL,
    ended_at integer, error text, receipt text) STRICT;
CREATE TABLE approvals (
    id text PRIMARY KEY, run_id text NOT NULL REFERENCES runs (id) ON DELETE CASCADE, step_name text NOT NULL, kind text NOT NULL,
    pipeline_name text NOT NULL, team text, stage text NOT NULL, question text NOT NULL, fields text NOT NULL, tool text,
    status text NOT NULL, requested_at integer NOT NULL, expires_at integer NOT NULL,
    decided_at integer, decided_by text, comment text, answers text) STRICT;
CREATE TABLE schedule_fires (pipeline_name text NOT NULL, fire_at integer NOT NULL,
    PRIMARY KEY (pipeline_name, fire_at)) STRICT, WITHOUT ROWID;
CREATE TABLE marks (name text PRIMARY KEY, value integer NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE replicas (epoch integer PRIMARY KEY AUTOINCREMENT, name text NOT NULL, expires_at integer NOT NULL) STRICT;
CREATE TABLE cancellations (run_id text PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE, asked_by text NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE lane_places (run_id text PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE, lane text NOT NULL, places integer NOT NULL,
    entered integer NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE artifacts (run_id text NOT NULL REFERENCES runs (id) ON DELETE CASCADE, step_name text NOT NULL, name text NOT NULL,
    body text NOT NULL, kept_at integer NOT NULL, PRIMARY KEY (run_id, step_name, name)) STRICT;
CREATE TABLE ended_sessions (id text PRIMARY KEY, expires_at integer NOT NULL) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX runs_one_live ON runs (pipeline_name, dedup_key)
    WHERE dedup_key IS NOT NULL AND status IN ('queued', 'running', 'interrupted');
CREATE INDEX runs_dedup ON runs (dedup_key, pipeline_name, triggered_at) WHERE dedup_key IS NOT NULL;
CREATE INDEX runs_by_status ON runs (status, seq);
CREATE INDEX runs_by_pipeline ON runs (pipeline_name, seq);
CREATE INDEX runs_by_parent ON runs (parent_run_id) WHERE parent_run_id IS NOT NULL;
CREATE UNIQUE INDEX step_executions_by_run ON step_executions (run_id, step_name);
CREATE INDEX audit_by_time ON audit (ts);
CREATE INDEX notifications_due ON notifications (due_at) WHERE status = 'pending';
CREATE INDEX notifications_by_run ON notifications (run_id);
CREATE INDEX notifications_by_age ON notifications (created_at);
CREATE INDEX approvals_by_status ON approvals (status, requested_at);
CREATE INDEX approvals_by_time ON approvals (requested_at);
CREATE INDEX approvals_by_run ON approvals (run_id);
CREATE INDEX runs_rerun_of ON runs (rerun_of, seq) WHERE rerun_of IS NOT NULL;
CREATE INDEX artifacts_by_age ON artifacts (kept_at);
CREATE INDEX lane_places_by_lane ON lane_places (lane);
INSERT INTO "schema_migrations" VALUES ('0001-initial', 1790000000000);
INSERT INTO "schema_migrations" VALUES ('0002-notifications', 1790000000000);
INSERT INTO "schema_migrations" VALUES ('0003-approvals', 1790000000000);
INSERT INTO "schema_migrations" VALUES ('0004-schedules', 1790000000000);
INSERT INTO "schema_migrations" VALUES ('0005-reruns', 1790000000000);
INSERT INTO "schema_migrations" VALUES ('0006-replicas', 1790000000000);
INSERT INTO "schema_migrations" VALUES ('0007-ended-sessions', 1790000000000);
INSERT INTO "definitions" VALUES ('definitions-hash-0', 'step', 'definitions-name-0', 'definitions-body-0', 1790000000000);
INSERT INTO "definitions" VALUES ('definitions-hash-1', 'step', 'definitions-name-1', 'definitions-body-1', 1790000060000);
INSERT INTO "runs" VALUES (1, 'runs-id-0', 'checkout', 'runs-definition_hash-0', 'generic', 'completed', 'runs-team-0', 'production', 'runs-severity-0', 'runs-summary-0', 1790000000000, 1790000005000, 'runs-fingerprint-0', NULL, 'runs-parent_run_id-0', 'runs-rerun_of-0', 'runs-waiting_on-0', 'runs-error_step-0', 'runs-error_message-0', 0.5, 0.5, 1, 1, 0.5, 1, 'runs-context-0', 'runs-raw-0', NULL);
INSERT INTO "runs" VALUES (2, 'runs-id-1', 'checkout', 'runs-definition_hash-1', 'generic', 'completed', 'runs-team-1', 'production', 'runs-severity-1', 'runs-summary-1', 1790000060000, 1790000065000, 'runs-fingerprint-1', NULL, 'runs-parent_run_id-1', 'runs-rerun_of-1', 'runs-waiting_on-1', 'runs-error_step-1', 'runs-error_message-1', 1.5, 1.5, 2, 2, 1.5, 2, 'runs-context-1', 'runs-raw-1', NULL);
INSERT INTO "step_executions" VALUES ('runs-id-0', 1, 'look/0', 'step_executions-id-0', 'step', 'gateway', 'step_executions-agent-0', 'step_executions-model-0', 'step_executions-provider-0', 'completed', 'checkout', 'step_executions-team-0', 'production', 0.5, 0.5, 0.5, 0.5, 1, 'step_executions-prompt_hash-0', 'step_executions-agent_version-0', 1, 1, 0.5, 'step_executions-cost_source-0', 1790000000000, 1790000005000, 1, 'step_executions-summary-0', 'step_executions-error_type-0', 'step_executions-error_message-0', 'step_executions-trust_report-0', 'step_executions-checks-0', 'step_executions-artifacts-0', 'step_executions-next_step_context-0', 'step_executions-output-0', 'step_executions-raw_response-0');
INSERT INTO "step_executions" VALUES ('runs-id-1', 2, 'look/1', 'step_executions-id-1', 'step', 'gateway', 'step_executions-agent-1', 'step_executions-model-1', 'step_executions-provider-1', 'completed', 'checkout', 'step_executions-team-1', 'production', 1.5, 1.5, 1.5, 1.5, 2, 'step_executions-prompt_hash-1', 'step_executions-agent_version-1', 2, 2, 1.5, 'step_executions-cost_source-1', 1790000060000, 1790000065000, 2, 'step_executions-summary-1', 'step_executions-error_type-1', 'step_executions-error_message-1', 'step_executions-trust_report-1', 'step_executions-checks-1', 'step_executions-artifacts-1', 'step_executions-next_step_context-1', 'step_executions-output-1', 'step_executions-raw_response-1');
INSERT INTO "run_events" VALUES ('runs-id-0', 1, 'run_events-events-0');
INSERT INTO "run_events" VALUES ('runs-id-1', 2, 'run_events-events-1');
INSERT INTO "run_feedback" VALUES ('runs-id-0', 'run_feedback-outcome-0', 'run_feedback-notes-0', 1790000000000, 'run_feedback-submitted_by-0');
INSERT INTO "run_feedback" VALUES ('runs-id-1', 'run_feedback-outcome-1', 'run_feedback-notes-1', 1790000060000, 'run_feedback-submitted_by-1');
INSERT INTO "step_feedback" VALUES ('runs-id-0', 'look/0', 'step_feedback-outcome-0', 'step_feedback-notes-0', 1790000000000, 'step_feedback-submitted_by-0');
INSERT INTO "step_feedback" VALUES ('runs-id-1', 'look/1', 'step_feedback-outcome-1', 'step_feedback-notes-1', 1790000060000, 'step_feedback-submitted_by-1');
INSERT INTO "counters" VALUES ('counters-metric-0', 'counters-labels-0', 0.5);
INSERT INTO "counters" VALUES ('counters-metric-1', 'counters-labels-1', 1.5);
INSERT INTO "audit" VALUES (1, 1, 'audit-actor-0', 'audit-actor_kind-0', 'audit-role-0', 'audit-action-0', 'audit-target_type-0', 'audit-target-0', 'runs-id-0', 'audit-outcome-0', 'audit-prior_yaml-0', 'audit-request_id-0');
INSERT INTO "audit" VALUES (2, 2, 'audit-actor-1', 'audit-actor_kind-1', 'audit-role-1', 'audit-action-1', 'audit-target_type-1', 'audit-target-1', 'runs-id-1', 'audit-outcome-1', 'audit-prior_yaml-1', 'audit-request_id-1');
INSERT INTO "notifications" VALUES ('notifications-id-0', 'runs-id-0', 'checkout', 'production', 'notifications-event-0', 'notifications-channel-0', 'notifications-instead_of-0', 'generic', 'notifications-message-0', 'completed', 1, 1790000000000, 1790000000000, 1790000000000, 'notifications-error-0', 'notifications-receipt-0');
INSERT INTO "notifications" VALUES ('notifications-id-1', 'runs-id-1', 'checkout', 'production', 'notifications-event-1', 'notifications-channel-1', 'notifications-instead_of-1', 'generic', 'notifications-message-1', 'completed', 2, 1790000060000, 1790000060000, 1790000060000, 'notifications-error-1', 'notifications-receipt-1');
INSERT INTO "approvals" VALUES ('approvals-id-0', 'runs-id-0', 'look/0', 'step', 'checkout', 'approvals-team-0', 'production', 'approvals-question-0', 'approvals-fields-0', 'approvals-tool-0', 'completed', 1790000000000, 1790000000000, 1790000000000, 'approvals-decided_by-0', 'approvals-comment-0', 'approvals-answers-0');
INSERT INTO "approvals" VALUES ('approvals-id-1', 'runs-id-1', 'look/1', 'step', 'checkout', 'approvals-team-1', 'production', 'approvals-question-1', 'approvals-fields-1', 'approvals-tool-1', 'completed', 1790000060000, 1790000060000, 1790000060000, 'approvals-decided_by-1', 'approvals-comment-1', 'approvals-answers-1');
INSERT INTO "schedule_fires" VALUES ('checkout', 1790000000000);
INSERT INTO "schedule_fires" VALUES ('checkout', 1790000060000);
INSERT INTO "marks" VALUES ('marks-name-0', 1);
INSERT INTO "marks" VALUES ('marks-name-1', 2);
INSERT INTO "replicas" VALUES (1, 'replicas-name-0', 1790000000000);
INSERT INTO "replicas" VALUES (2, 'replicas-name-1', 1790000060000);
INSERT INTO "cancellations" VALUES ('runs-id-0', 'cancellations-asked_by-0');
INSERT INTO "cancellations" VALUES ('runs-id-1', 'cancellations-asked_by-1');
INSERT INTO "lane_places" VALUES ('runs-id-0', 'lane_places-lane-0', 1, 1);
INSERT INTO "lane_places" VALUES ('runs-id-1', 'lane_places-lane-1', 2, 2);
INSERT INTO "artifacts" VALUES ('runs-id-0', 'look/0', 'artifacts-name-0', 'artifacts-body-0', 1790000000000);
INSERT INTO "artifacts" VALUES ('runs-id-1', 'look/1', 'artifacts-name-1', 'artifacts-body-1', 1790000060000);
INSERT INTO "ended_sessions" VALUES ('ended_sessions-id-0', 1790000000000);
INSERT INTO "ended_sessions" VALUES ('ended_sessions-id-1', 1790000060000);
