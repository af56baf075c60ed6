PRAGMA foreign_keys = OFF;
CREATE TABLE schema_migrations (id text PRIMARY KEY, applied_at integer NOT NULL) STRICT;
CREATE TABLE definitions (hash text PRIMARY KEY, kind text NOT NULL, name text NOT NULL, body text NOT NULL, stored_at integer NOT NULL) STRICT;
CREATE TABLE runs (
    seq integer PRIMARY KEY AUTOINCREMENT, id text NOT NULL UNIQUE, pipeline_name text NOT NULL, definition_hash text NOT NULL,
    source text NOT NULL, status text NOT NULL, team text, stage text NOT NULL, severity text, summary text,
    triggered_at integer NOT NULL, completed_at integer, fingerprint text, dedup_key text, parent_run_id text, rerun_of text,
    waiting_on text, error_step text, error_message text, trust real, threshold real,
    input_tokens integer NOT NULL, output_tokens integer NOT NULL, cost real, unpriced_steps integer NOT NULL,
    context text NOT NULL, raw text, owner integer, started_by text, raw_hash text, warning_count integer NOT NULL DEFAULT 0, namespace text, result text) STRICT;
CREATE TABLE step_executions (
    run_id text NOT NULL REFERENCES runs (id) ON DELETE CASCADE, step_index integer NOT NULL, step_name text NOT NULL,
    id text NOT NULL UNIQUE, kind text NOT NULL, executor text NOT NULL, agent text, model text, provider text,
    status text NOT NULL, pipeline_name text NOT NULL, team text, stage text NOT NULL,
    primary_confidence real, verifier_confidence real, effective_confidence real, grounding_score real, deterministic_passed integer,
    prompt_hash text, agent_version text, input_tokens integer, output_tokens integer, cost real, cost_source text,
    started_at integer NOT NULL, completed_at integer, attempts integer NOT NULL, summary text, error_type text, error_message text,
    trust_report text, checks text, artifacts text, next_step_context text, output text, raw_response text, family text NOT NULL DEFAULT '', unpriced_calls integer) STRICT;
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
    ended_at integer, error text, receipt text, tried_from integer, tries text) STRICT;
CREATE TABLE approvals (
    id text PRIMARY KEY, run_id text NOT NULL REFERENCES runs (id) ON DELETE CASCADE, step_name text NOT NULL, kind text NOT NULL,
    pipeline_name text NOT NULL, team text, stage text NOT NULL, question text NOT NULL, fields text NOT NULL, tool text,
    status text NOT NULL, requested_at integer NOT NULL, expires_at integer NOT NULL,
    decided_at integer, decided_by text, comment text, answers text, required integer NOT NULL DEFAULT 1, not_the_starter integer NOT NULL DEFAULT 0, votes text) STRICT;
CREATE TABLE schedule_fires (pipeline_name text NOT NULL, fire_at integer NOT NULL, missed_at integer,
    PRIMARY KEY (pipeline_name, fire_at)) STRICT, WITHOUT ROWID;
CREATE TABLE marks (name text PRIMARY KEY, value integer NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE replicas (epoch integer PRIMARY KEY AUTOINCREMENT, name text NOT NULL, expires_at integer NOT NULL) STRICT;
CREATE TABLE cancellations (run_id text PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE, asked_by text NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE lane_places (run_id text PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE, lane text NOT NULL, places integer NOT NULL,
    entered integer NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE artifacts (run_id text NOT NULL REFERENCES runs (id) ON DELETE CASCADE, step_name text NOT NULL, name text NOT NULL,
    body text NOT NULL, kept_at integer NOT NULL, PRIMARY KEY (run_id, step_name, name)) STRICT;
CREATE TABLE ended_sessions (id text PRIMARY KEY, expires_at integer NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE hourly_runs (hour integer NOT NULL, pipeline_name text NOT NULL, stage text NOT NULL, team text NOT NULL,
    status text NOT NULL, runs integer NOT NULL, duration_ms integer NOT NULL,
    PRIMARY KEY (hour, pipeline_name, stage, team, status)) STRICT, WITHOUT ROWID;
CREATE TABLE hourly_steps (hour integer NOT NULL, step_name text NOT NULL, pipeline_name text NOT NULL, stage text NOT NULL,
    team text NOT NULL, agent text NOT NULL, provider text NOT NULL, model text NOT NULL, cost_source text NOT NULL,
    status text NOT NULL, executions integer NOT NULL, reporting integer NOT NULL, input_tokens integer NOT NULL,
    output_tokens integer NOT NULL, cost real NOT NULL, unpriced integer NOT NULL, duration_ms integer NOT NULL,
    PRIMARY KEY (hour, step_name, pipeline_name, stage, team, agent, provider, model, cost_source, status)) STRICT, WITHOUT ROWID;
CREATE TABLE prompt_templates (hash text PRIMARY KEY, template text NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE version_uses (step_name text NOT NULL, prompt_hash text NOT NULL, executor text NOT NULL, agent text NOT NULL,
    agent_version text NOT NULL, first_seen_at integer NOT NULL, last_seen_at integer NOT NULL,
    PRIMARY KEY (step_name, prompt_hash, executor, agent, agent_version)) STRICT, WITHOUT ROWID;
CREATE TABLE agent_versions (executor text NOT NULL, agent text NOT NULL, agent_version text NOT NULL,
    soul_md text, agent_yaml text, note text, wanted integer NOT NULL, PRIMARY KEY (executor, agent, agent_version)) STRICT, WITHOUT ROWID;
CREATE TABLE replays (run_id text PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE, kind text NOT NULL, step_name text NOT NULL,
    descriptor text NOT NULL, launch_key text, launch_hash text) STRICT, WITHOUT ROWID;
CREATE TABLE replay_samples (run_id text NOT NULL REFERENCES runs (id) ON DELETE CASCADE, position integer NOT NULL,
    step_id text, source_run_id text, outcome text, label_source text, pinned integer NOT NULL, reason text, judgement text,
    PRIMARY KEY (run_id, position)) STRICT, WITHOUT ROWID;
CREATE TABLE golden_sets (id text PRIMARY KEY, name text NOT NULL UNIQUE, description text NOT NULL, step_name text NOT NULL,
    created_at integer NOT NULL, created_by text NOT NULL, archived_at integer) STRICT, WITHOUT ROWID;
CREATE TABLE golden_members (id text PRIMARY KEY, set_id text NOT NULL REFERENCES golden_sets (id) ON DELETE CASCADE,
    step_id text NOT NULL, run_id text NOT NULL, step_name text NOT NULL, outcome text NOT NULL, label_source text NOT NULL,
    note text, pinned_at integer NOT NULL, pinned_by text NOT NULL, prompt_hash text, agent_version text,
    UNIQUE (set_id, step_id)) STRICT;
CREATE TABLE regressions (id text PRIMARY KEY, set_id text NOT NULL REFERENCES golden_sets (id) ON DELETE CASCADE,
    fire_at integer NOT NULL, status text NOT NULL, run_id text, started_at integer NOT NULL, beat_at integer NOT NULL,
    completed_at integer, n_members integer NOT NULL, n_regressed integer, n_improved integer, n_graded integer,
    n_unreplayable integer, n_divergences integer, baseline_accuracy real, fresh_accuracy real, alert text, error text) STRICT;
CREATE TABLE run_alerts (pipeline_name text NOT NULL, alert_key text NOT NULL, run_id text NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    PRIMARY KEY (pipeline_name, alert_key, run_id)) STRICT, WITHOUT ROWID;
CREATE TABLE deliveries (
    id integer PRIMARY KEY AUTOINCREMENT, received_at integer NOT NULL, source text NOT NULL, outcome text NOT NULL, status_code integer NOT NULL,
    pipeline text, run_id text, summary text, severity text, labels text NOT NULL, fingerprint text, detail text,
    token_name text, team text, strategy text, allow_testing integer NOT NULL, alerts text, closest text, raw text, raw_truncated integer NOT NULL) STRICT;
CREATE TABLE raw_bodies (hash text PRIMARY KEY, body blob NOT NULL, stored_at integer NOT NULL) STRICT;
CREATE TABLE attention (run_id text PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE, state text NOT NULL, team text,
    opened_at integer NOT NULL, assignee text, note text, acknowledged_at integer, acknowledged_by text,
    resolved_at integer, resolved_by text, resolution text) STRICT;
CREATE TABLE run_labels (run_id text PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE, triggered_at integer NOT NULL,
    pipeline_name text NOT NULL, stage text NOT NULL, team text, outcome text NOT NULL, uses text) STRICT;
CREATE VIRTUAL TABLE run_search USING fts5(words, content='', contentless_delete=1, detail=none, prefix='1 2 3 4',
        tokenize="ascii tokenchars '='");
CREATE TABLE unsearched (seq integer PRIMARY KEY REFERENCES runs (seq) ON DELETE CASCADE) STRICT, WITHOUT ROWID;
CREATE TABLE run_days (day integer PRIMARY KEY, first_seq integer NOT NULL, last_seq integer NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE run_bodies (seq integer PRIMARY KEY REFERENCES runs (seq) ON DELETE CASCADE, body blob NOT NULL) STRICT;
CREATE TABLE daily_runs (day integer NOT NULL, pipeline_name text NOT NULL, stage text NOT NULL, team text NOT NULL,
    status text NOT NULL, runs integer NOT NULL, duration_ms integer NOT NULL,
    PRIMARY KEY (day, pipeline_name, stage, team, status)) STRICT, WITHOUT ROWID;
CREATE TABLE daily_use (day integer NOT NULL, pipeline_name text NOT NULL, stage text NOT NULL, team text NOT NULL,
    cost_source text NOT NULL, executions integer NOT NULL, reporting integer NOT NULL, input_tokens integer NOT NULL,
    output_tokens integer NOT NULL, cost real NOT NULL, unpriced integer NOT NULL, duration_ms integer NOT NULL, PRIMARY KEY (day, pipeline_name, stage, team, cost_source)) STRICT, WITHOUT ROWID;
CREATE TABLE daily_steps (step_name text NOT NULL, day integer NOT NULL, pipeline_name text NOT NULL, stage text NOT NULL,
    team text NOT NULL, agent text NOT NULL, provider text NOT NULL, model text NOT NULL, cost_source text NOT NULL,
    status text NOT NULL, executions integer NOT NULL, reporting integer NOT NULL, input_tokens integer NOT NULL,
    output_tokens integer NOT NULL, cost real NOT NULL, unpriced integer NOT NULL, duration_ms integer NOT NULL,
    PRIMARY KEY (step_name, day, pipeline_name, stage, team, agent, provider, model, cost_source, status)) STRICT, WITHOUT ROWID;
CREATE TABLE daily_durations (step_name text NOT NULL, day integer NOT NULL, pipeline_name text NOT NULL,
    stage text NOT NULL, counts text NOT NULL, PRIMARY KEY (step_name, day, pipeline_name, stage)) STRICT, WITHOUT ROWID;
CREATE TABLE packed_evidence (pipeline_name text NOT NULL, stage text NOT NULL, day integer NOT NULL, part integer NOT NULL,
    body blob NOT NULL, PRIMARY KEY (pipeline_name, stage, day, part)) STRICT;
CREATE TABLE marked_runs (run_id text PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE, seq integer NOT NULL,
    pipeline_name text NOT NULL, stage text NOT NULL, triggered_at integer NOT NULL) STRICT;
CREATE TABLE daily_prompts (step_name text NOT NULL, day integer NOT NULL, pipeline_name text NOT NULL, prompt_hash text NOT NULL,
    executions integer NOT NULL, first_at integer NOT NULL, last_at integer NOT NULL,
    PRIMARY KEY (step_name, day, pipeline_name, prompt_hash)) STRICT, WITHOUT ROWID;
CREATE TABLE packed_runs (day integer NOT NULL, part integer NOT NULL, body blob NOT NULL, PRIMARY KEY (day, part)) STRICT;
CREATE TABLE judged_steps (family text NOT NULL, stage text NOT NULL, started_at integer NOT NULL,
    run_id text NOT NULL REFERENCES runs (id) ON DELETE CASCADE, step_name text NOT NULL, pipeline_name text NOT NULL, team text,
    executor text NOT NULL, agent text, provider text, model text, prompt_hash text, agent_version text,
    effective_confidence real, outcome text NOT NULL, PRIMARY KEY (family, stage, started_at, run_id, step_name)) STRICT, WITHOUT ROWID;
CREATE TABLE weekly_runs (week integer NOT NULL, pipeline_name text NOT NULL, stage text NOT NULL, team text NOT NULL,
    status text NOT NULL, runs integer NOT NULL, duration_ms integer NOT NULL,
    PRIMARY KEY (week, pipeline_name, stage, team, status)) STRICT, WITHOUT ROWID;
CREATE TABLE weekly_use (week integer NOT NULL, pipeline_name text NOT NULL, stage text NOT NULL, team text NOT NULL,
    cost_source text NOT NULL, executions integer NOT NULL, reporting integer NOT NULL, input_tokens integer NOT NULL,
    output_tokens integer NOT NULL, cost real NOT NULL, unpriced integer NOT NULL, duration_ms integer NOT NULL, PRIMARY KEY (week, pipeline_name, stage, team, cost_source)) STRICT, WITHOUT ROWID;
CREATE TABLE weekly_steps (step_name text NOT NULL, week integer NOT NULL, pipeline_name text NOT NULL, stage text NOT NULL,
    team text NOT NULL, agent text NOT NULL, provider text NOT NULL, model text NOT NULL, cost_source text NOT NULL,
    status text NOT NULL, executions integer NOT NULL, reporting integer NOT NULL, input_tokens integer NOT NULL,
    output_tokens integer NOT NULL, cost real NOT NULL, unpriced integer NOT NULL, duration_ms integer NOT NULL,
    PRIMARY KEY (step_name, week, pipeline_name, stage, team, agent, provider, model, cost_source, status)) STRICT, WITHOUT ROWID;
CREATE TABLE weekly_durations (step_name text NOT NULL, week integer NOT NULL, pipeline_name text NOT NULL,
    stage text NOT NULL, counts text NOT NULL, PRIMARY KEY (step_name, week, pipeline_name, stage)) STRICT, WITHOUT ROWID;
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
CREATE INDEX runs_ended ON runs (pipeline_name, stage, triggered_at, completed_at) WHERE completed_at IS NOT NULL;
CREATE INDEX step_executions_ended ON step_executions (family, stage, started_at, completed_at, status, kind, pipeline_name,
    agent, provider, model, prompt_hash, agent_version, effective_confidence, deterministic_passed, run_id, step_name) WHERE completed_at IS NOT NULL;
CREATE INDEX version_uses_by_agent ON version_uses (executor, agent, agent_version);
CREATE UNIQUE INDEX replays_by_launch_key ON replays (launch_key) WHERE launch_key IS NOT NULL;
CREATE INDEX replays_by_step ON replays (step_name);
CREATE INDEX golden_members_by_run ON golden_members (run_id);
CREATE UNIQUE INDEX regressions_fire ON regressions (set_id, fire_at);
CREATE INDEX run_alerts_by_run ON run_alerts (run_id);
CREATE INDEX deliveries_by_time ON deliveries (received_at);
CREATE INDEX deliveries_without_run ON deliveries (outcome, id) WHERE outcome NOT IN ('accepted', 'queued');
CREATE INDEX schedule_fires_missed ON schedule_fires (pipeline_name, fire_at) WHERE missed_at IS NOT NULL;
CREATE INDEX notifications_failed ON notifications (created_at) WHERE status = 'failed';
CREATE INDEX runs_by_raw ON runs (raw_hash) WHERE raw_hash IS NOT NULL;
CREATE INDEX runs_with_warnings ON runs (seq) WHERE warning_count > 0;
CREATE INDEX attention_by_state ON attention (state, opened_at);
CREATE INDEX marked_runs_by_pipeline ON marked_runs (pipeline_name, stage, triggered_at, seq, run_id);
CREATE INDEX run_labels_by_time ON run_labels (triggered_at, stage, pipeline_name, team, outcome, run_id, uses);
CREATE INDEX judged_steps_by_run ON judged_steps (run_id);
INSERT INTO "schema_migrations" VALUES ('0001-initial', 1790000000000);
INSERT INTO "schema_migrations" VALUES ('0002-notifications', 1790000000000);
INSERT INTO "schema_migrations" VALUES ('0003-approvals', 1790000000000);
INSERT INTO "schema_migrations" VALUES ('0004-schedules', 1790000000000);
INSERT INTO "schema_migrations" VALUES ('0005-reruns', 1790000000000);
INSERT INTO "schema_migrations" VALUES ('0006-replicas', 1790000000000);
INSERT INTO "schema_migrations" VALUES ('0007-ended-sessions', 1790000000000);
INSERT INTO "schema_migrations" VALUES ('0008-hourly-sums', 1790000000000);
INSERT INTO "schema_migrations" VALUES ('0009-versions', 1790000000000);
INSERT INTO "schema_migrations" VALUES ('0010-replay', 1790000000000);
INSERT INTO "schema_migrations" VALUES ('0011-golden-sets', 1790000000000);
INSERT INTO "schema_migrations" VALUES ('0012-deliveries', 1790000000000);
INSERT INTO "schema_migrations" VALUES ('0013-escalations', 1790000000000);
INSERT INTO "schema_migrations" VALUES ('0014-approvers', 1790000000000);
INSERT INTO "schema_migrations" VALUES ('0015-raw', 1790000000000);
INSERT INTO "schema_migrations" VALUES ('0016-warnings', 1790000000000);
INSERT INTO "schema_migrations" VALUES ('0017-attention', 1790000000000);
INSERT INTO "schema_migrations" VALUES ('0018-usage', 1790000000000);
INSERT INTO "schema_migrations" VALUES ('0019-notification-tries', 1790000000000);
INSERT INTO "schema_migrations" VALUES ('0020-namespaces', 1790000000000);
INSERT INTO "schema_migrations" VALUES ('0021-run-labels', 1790000000000);
INSERT INTO "schema_migrations" VALUES ('0022-search', 1790000000000);
INSERT INTO "schema_migrations" VALUES ('0023-run-bodies', 1790000000000);
INSERT INTO "schema_migrations" VALUES ('0024-daily-sums', 1790000000000);
INSERT INTO "schema_migrations" VALUES ('0025-packed-evidence', 1790000000000);
INSERT INTO "schema_migrations" VALUES ('0026-packed-steps', 1790000000000);
INSERT INTO "schema_migrations" VALUES ('0027-daily-prompts', 1790000000000);
INSERT INTO "schema_migrations" VALUES ('0028-packed-runs', 1790000000000);
INSERT INTO "schema_migrations" VALUES ('0029-judged-steps', 1790000000000);
INSERT INTO "schema_migrations" VALUES ('0030-weekly-sums', 1790000000000);
INSERT INTO "definitions" VALUES ('definitions-hash-0', 'step', 'definitions-name-0', 'definitions-body-0', 1790000000000);
INSERT INTO "definitions" VALUES ('definitions-hash-1', 'step', 'definitions-name-1', 'definitions-body-1', 1790000060000);
INSERT INTO "runs" VALUES (1, 'runs-id-0', 'checkout', 'runs-definition_hash-0', 'generic', 'completed', 'runs-team-0', 'production', 'runs-severity-0', 'runs-summary-0', 1790000000000, 1790000005000, 'runs-fingerprint-0', NULL, 'runs-parent_run_id-0', 'runs-rerun_of-0', 'runs-waiting_on-0', 'runs-error_step-0', 'runs-error_message-0', 0.5, 0.5, 1, 1, 0.5, 1, 'runs-context-0', 'runs-raw-0', NULL, NULL, NULL, 0, NULL, NULL);
INSERT INTO "runs" VALUES (2, 'runs-id-1', 'checkout', 'runs-definition_hash-1', 'generic', 'completed', 'runs-team-1', 'production', 'runs-severity-1', 'runs-summary-1', 1790000060000, 1790000065000, 'runs-fingerprint-1', NULL, 'runs-parent_run_id-1', 'runs-rerun_of-1', 'runs-waiting_on-1', 'runs-error_step-1', 'runs-error_message-1', 1.5, 1.5, 2, 2, 1.5, 2, 'runs-context-1', 'runs-raw-1', NULL, NULL, NULL, 0, NULL, NULL);
INSERT INTO "step_executions" VALUES ('runs-id-0', 1, 'look/0', 'step_executions-id-0', 'step', 'gateway', 'step_executions-agent-0', 'step_executions-model-0', 'step_executions-provider-0', 'completed', 'checkout', 'step_executions-team-0', 'production', 0.5, 0.5, 0.5, 0.5, 1, 'step_executions-prompt_hash-0', 'step_executions-agent_version-0', 1, 1, 0.5, 'step_executions-cost_source-0', 1790000000000, 1790000005000, 1, 'step_executions-summary-0', 'step_executions-error_type-0', 'step_executions-error_message-0', 'step_executions-trust_report-0', 'step_executions-checks-0', 'step_executions-artifacts-0', 'step_executions-next_step_context-0', 'step_executions-output-0', 'step_executions-raw_response-0', 'look', NULL);
INSERT INTO "step_executions" VALUES ('runs-id-1', 2, 'look/1', 'step_executions-id-1', 'step', 'gateway', 'step_executions-agent-1', 'step_executions-model-1', 'step_executions-provider-1', 'completed', 'checkout', 'step_executions-team-1', 'production', 1.5, 1.5, 1.5, 1.5, 2, 'step_executions-prompt_hash-1', 'step_executions-agent_version-1', 2, 2, 1.5, 'step_executions-cost_source-1', 1790000060000, 1790000065000, 2, 'step_executions-summary-1', 'step_executions-error_type-1', 'step_executions-error_message-1', 'step_executions-trust_report-1', 'step_executions-checks-1', 'step_executions-artifacts-1', 'step_executions-next_step_context-1', 'step_executions-output-1', 'step_executions-raw_response-1', 'look', NULL);
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
INSERT INTO "notifications" VALUES ('notifications-id-0', 'runs-id-0', 'checkout', 'production', 'notifications-event-0', 'notifications-channel-0', 'notifications-instead_of-0', 'generic', 'notifications-message-0', 'completed', 1, 1790000000000, 1790000000000, 1790000000000, 'notifications-error-0', 'notifications-receipt-0', NULL, NULL);
INSERT INTO "notifications" VALUES ('notifications-id-1', 'runs-id-1', 'checkout', 'production', 'notifications-event-1', 'notifications-channel-1', 'notifications-instead_of-1', 'generic', 'notifications-message-1', 'completed', 2, 1790000060000, 1790000060000, 1790000060000, 'notifications-error-1', 'notifications-receipt-1', NULL, NULL);
INSERT INTO "approvals" VALUES ('approvals-id-0', 'runs-id-0', 'look/0', 'step', 'checkout', 'approvals-team-0', 'production', 'approvals-question-0', 'approvals-fields-0', 'approvals-tool-0', 'completed', 1790000000000, 1790000000000, 1790000000000, 'approvals-decided_by-0', 'approvals-comment-0', 'approvals-answers-0', 1, 0, NULL);
INSERT INTO "approvals" VALUES ('approvals-id-1', 'runs-id-1', 'look/1', 'step', 'checkout', 'approvals-team-1', 'production', 'approvals-question-1', 'approvals-fields-1', 'approvals-tool-1', 'completed', 1790000060000, 1790000060000, 1790000060000, 'approvals-decided_by-1', 'approvals-comment-1', 'approvals-answers-1', 1, 0, NULL);
INSERT INTO "schedule_fires" VALUES ('checkout', 1790000000000, NULL);
INSERT INTO "schedule_fires" VALUES ('checkout', 1790000060000, NULL);
INSERT INTO "marks" VALUES ('backfill:usage', 2);
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
INSERT INTO "hourly_runs" VALUES (1789999200000, 'checkout', 'production', 'runs-team-0', 'completed', 1, 5000);
INSERT INTO "hourly_runs" VALUES (1789999200000, 'checkout', 'production', 'runs-team-1', 'completed', 1, 5000);
INSERT INTO "hourly_steps" VALUES (1789999200000, 'look', 'checkout', 'production', 'step_executions-team-0', 'step_executions-agent-0', 'step_executions-provider-0', 'step_executions-model-0', 'step_executions-cost_source-0', 'completed', 1, 1, 1, 1, 0.5, 0, 5000);
INSERT INTO "hourly_steps" VALUES (1789999200000, 'look', 'checkout', 'production', 'step_executions-team-1', 'step_executions-agent-1', 'step_executions-provider-1', 'step_executions-model-1', 'step_executions-cost_source-1', 'completed', 1, 1, 2, 2, 1.5, 0, 5000);
INSERT INTO "prompt_templates" VALUES ('prompt_templates-hash-0', 'prompt_templates-template-0');
INSERT INTO "prompt_templates" VALUES ('prompt_templates-hash-1', 'prompt_templates-template-1');
INSERT INTO "version_uses" VALUES ('look', 'step_executions-prompt_hash-0', 'gateway', 'step_executions-agent-0', 'step_executions-agent_version-0', 1790000000000, 1790000000000);
INSERT INTO "version_uses" VALUES ('look', 'step_executions-prompt_hash-1', 'gateway', 'step_executions-agent-1', 'step_executions-agent_version-1', 1790000060000, 1790000060000);
INSERT INTO "agent_versions" VALUES ('gateway', 'step_executions-agent-0', 'step_executions-agent_version-0', NULL, NULL, NULL, 1);
INSERT INTO "agent_versions" VALUES ('gateway', 'step_executions-agent-1', 'step_executions-agent_version-1', NULL, NULL, NULL, 1);
INSERT INTO "replays" VALUES ('runs-id-0', 'step', 'look/0', 'replays-descriptor-0', 'replays-launch_key-0', 'replays-launch_hash-0');
INSERT INTO "replays" VALUES ('runs-id-1', 'step', 'look/1', 'replays-descriptor-1', 'replays-launch_key-1', 'replays-launch_hash-1');
INSERT INTO "replay_samples" VALUES ('runs-id-0', 1, 'replay_samples-step_id-0', 'replay_samples-source_run_id-0', 'replay_samples-outcome-0', 'replay_samples-label_source-0', 1, 'replay_samples-reason-0', 'replay_samples-judgement-0');
INSERT INTO "replay_samples" VALUES ('runs-id-1', 2, 'replay_samples-step_id-1', 'replay_samples-source_run_id-1', 'replay_samples-outcome-1', 'replay_samples-label_source-1', 2, 'replay_samples-reason-1', 'replay_samples-judgement-1');
INSERT INTO "golden_sets" VALUES ('golden_sets-id-0', 'golden_sets-name-0', 'golden_sets-description-0', 'look/0', 1790000000000, 'golden_sets-created_by-0', 1790000000000);
INSERT INTO "golden_sets" VALUES ('golden_sets-id-1', 'golden_sets-name-1', 'golden_sets-description-1', 'look/1', 1790000060000, 'golden_sets-created_by-1', 1790000060000);
INSERT INTO "golden_members" VALUES ('golden_members-id-0', 'golden_sets-id-0', 'golden_members-step_id-0', 'runs-id-0', 'look/0', 'golden_members-outcome-0', 'golden_members-label_source-0', 'golden_members-note-0', 1790000000000, 'golden_members-pinned_by-0', 'golden_members-prompt_hash-0', 'golden_members-agent_version-0');
INSERT INTO "golden_members" VALUES ('golden_members-id-1', 'golden_sets-id-1', 'golden_members-step_id-1', 'runs-id-1', 'look/1', 'golden_members-outcome-1', 'golden_members-label_source-1', 'golden_members-note-1', 1790000060000, 'golden_members-pinned_by-1', 'golden_members-prompt_hash-1', 'golden_members-agent_version-1');
INSERT INTO "regressions" VALUES ('regressions-id-0', 'golden_sets-id-0', 1790000000000, 'completed', 'runs-id-0', 1790000000000, 1790000000000, 1790000005000, 1, 1, 1, 1, 1, 1, 0.5, 0.5, 'regressions-alert-0', 'regressions-error-0');
INSERT INTO "regressions" VALUES ('regressions-id-1', 'golden_sets-id-1', 1790000060000, 'completed', 'runs-id-1', 1790000060000, 1790000060000, 1790000065000, 2, 2, 2, 2, 2, 2, 1.5, 1.5, 'regressions-alert-1', 'regressions-error-1');
INSERT INTO "run_alerts" VALUES ('checkout', 'run_alerts-alert_key-0', 'runs-id-0');
INSERT INTO "run_alerts" VALUES ('checkout', 'run_alerts-alert_key-1', 'runs-id-1');
INSERT INTO "deliveries" VALUES (1, 1790000000000, 'generic', 'deliveries-outcome-0', 1, 'deliveries-pipeline-0', 'runs-id-0', 'deliveries-summary-0', 'deliveries-severity-0', 'deliveries-labels-0', 'deliveries-fingerprint-0', 'deliveries-detail-0', 'deliveries-token_name-0', 'deliveries-team-0', 'deliveries-strategy-0', 1, 'deliveries-alerts-0', 'deliveries-closest-0', 'deliveries-raw-0', 1);
INSERT INTO "deliveries" VALUES (2, 1790000060000, 'generic', 'deliveries-outcome-1', 2, 'deliveries-pipeline-1', 'runs-id-1', 'deliveries-summary-1', 'deliveries-severity-1', 'deliveries-labels-1', 'deliveries-fingerprint-1', 'deliveries-detail-1', 'deliveries-token_name-1', 'deliveries-team-1', 'deliveries-strategy-1', 2, 'deliveries-alerts-1', 'deliveries-closest-1', 'deliveries-raw-1', 2);
INSERT INTO "raw_bodies" VALUES ('raw_bodies-hash-0', X'0000ff', 1790000000000);
INSERT INTO "raw_bodies" VALUES ('raw_bodies-hash-1', X'0100ff', 1790000060000);
INSERT INTO "attention" VALUES ('runs-id-0', 'attention-state-0', 'attention-team-0', 1790000000000, 'attention-assignee-0', 'attention-note-0', 1790000000000, 'attention-acknowledged_by-0', 1790000000000, 'attention-resolved_by-0', 'attention-resolution-0');
INSERT INTO "attention" VALUES ('runs-id-1', 'attention-state-1', 'attention-team-1', 1790000060000, 'attention-assignee-1', 'attention-note-1', 1790000060000, 'attention-acknowledged_by-1', 1790000060000, 'attention-resolved_by-1', 'attention-resolution-1');
INSERT INTO "run_labels" VALUES ('runs-id-0', 1790000000000, 'checkout', 'production', 'runs-team-0', 'run_feedback-outcome-0', NULL);
INSERT INTO "run_labels" VALUES ('runs-id-1', 1790000060000, 'checkout', 'production', 'runs-team-1', 'run_feedback-outcome-1', NULL);
INSERT INTO "unsearched" VALUES (1);
INSERT INTO "unsearched" VALUES (2);
INSERT INTO "run_days" VALUES (1, 1, 1);
INSERT INTO "run_days" VALUES (2, 2, 2);
INSERT INTO "run_bodies" VALUES (1, X'0000ff');
INSERT INTO "run_bodies" VALUES (2, X'0100ff');
INSERT INTO "daily_runs" VALUES (1, 'checkout', 'production', 'daily_runs-team-0', 'completed', 1, 1);
INSERT INTO "daily_runs" VALUES (2, 'checkout', 'production', 'daily_runs-team-1', 'completed', 2, 2);
INSERT INTO "daily_use" VALUES (1, 'checkout', 'production', 'daily_use-team-0', 'daily_use-cost_source-0', 1, 1, 1, 1, 0.5, 1, 1);
INSERT INTO "daily_use" VALUES (2, 'checkout', 'production', 'daily_use-team-1', 'daily_use-cost_source-1', 2, 2, 2, 2, 1.5, 2, 2);
INSERT INTO "daily_steps" VALUES ('look/0', 1, 'checkout', 'production', 'daily_steps-team-0', 'daily_steps-agent-0', 'daily_steps-provider-0', 'daily_steps-model-0', 'daily_steps-cost_source-0', 'completed', 1, 1, 1, 1, 0.5, 1, 1);
INSERT INTO "daily_steps" VALUES ('look/1', 2, 'checkout', 'production', 'daily_steps-team-1', 'daily_steps-agent-1', 'daily_steps-provider-1', 'daily_steps-model-1', 'daily_steps-cost_source-1', 'completed', 2, 2, 2, 2, 1.5, 2, 2);
INSERT INTO "daily_durations" VALUES ('look/0', 1, 'checkout', 'production', 'daily_durations-counts-0');
INSERT INTO "daily_durations" VALUES ('look/1', 2, 'checkout', 'production', 'daily_durations-counts-1');
INSERT INTO "packed_evidence" VALUES ('checkout', 'production', 1, 1, X'0000ff');
INSERT INTO "packed_evidence" VALUES ('checkout', 'production', 2, 2, X'0100ff');
INSERT INTO "marked_runs" VALUES ('runs-id-0', 1, 'checkout', 'production', 1790000000000);
INSERT INTO "marked_runs" VALUES ('runs-id-1', 2, 'checkout', 'production', 1790000060000);
INSERT INTO "daily_prompts" VALUES ('look/0', 1, 'checkout', 'daily_prompts-prompt_hash-0', 1, 1790000000000, 1790000000000);
INSERT INTO "daily_prompts" VALUES ('look/1', 2, 'checkout', 'daily_prompts-prompt_hash-1', 2, 1790000060000, 1790000060000);
INSERT INTO "packed_runs" VALUES (1, 1, X'0000ff');
INSERT INTO "packed_runs" VALUES (2, 2, X'0100ff');
INSERT INTO "judged_steps" VALUES ('look', 'production', 1790000000000, 'runs-id-0', 'look/0', 'checkout', 'step_executions-team-0', 'gateway', 'step_executions-agent-0', 'step_executions-provider-0', 'step_executions-model-0', 'step_executions-prompt_hash-0', 'step_executions-agent_version-0', 0.5, 'step_feedback-outcome-0');
INSERT INTO "judged_steps" VALUES ('look', 'production', 1790000060000, 'runs-id-1', 'look/1', 'checkout', 'step_executions-team-1', 'gateway', 'step_executions-agent-1', 'step_executions-provider-1', 'step_executions-model-1', 'step_executions-prompt_hash-1', 'step_executions-agent_version-1', 1.5, 'step_feedback-outcome-1');
INSERT INTO "weekly_runs" VALUES (1, 'checkout', 'production', 'weekly_runs-team-0', 'completed', 1, 1);
INSERT INTO "weekly_runs" VALUES (2, 'checkout', 'production', 'weekly_runs-team-1', 'completed', 2, 2);
INSERT INTO "weekly_use" VALUES (1, 'checkout', 'production', 'weekly_use-team-0', 'weekly_use-cost_source-0', 1, 1, 1, 1, 0.5, 1, 1);
INSERT INTO "weekly_use" VALUES (2, 'checkout', 'production', 'weekly_use-team-1', 'weekly_use-cost_source-1', 2, 2, 2, 2, 1.5, 2, 2);
INSERT INTO "weekly_steps" VALUES ('look/0', 1, 'checkout', 'production', 'weekly_steps-team-0', 'weekly_steps-agent-0', 'weekly_steps-provider-0', 'weekly_steps-model-0', 'weekly_steps-cost_source-0', 'completed', 1, 1, 1, 1, 0.5, 1, 1);
INSERT INTO "weekly_steps" VALUES ('look/1', 2, 'checkout', 'production', 'weekly_steps-team-1', 'weekly_steps-agent-1', 'weekly_steps-provider-1', 'weekly_steps-model-1', 'weekly_steps-cost_source-1', 'completed', 2, 2, 2, 2, 1.5, 2, 2);
INSERT INTO "weekly_durations" VALUES ('look/0', 1, 'checkout', 'production', 'weekly_durations-counts-0');
INSERT INTO "weekly_durations" VALUES ('look/1', 2, 'checkout', 'production', 'weekly_durations-counts-1');
