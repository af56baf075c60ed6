import type { Generated } from 'kysely';
import type { DeliveryRow } from './rows/delivery-row.ts';
import type { HourlyRun, HourlyStep } from './rows/hourly-rows.ts';
import type { JudgedStepRow } from './rows/judged-step-row.ts';
import type { StepRow } from './rows/step-row.ts';
import type { VersionUse } from '../../versions/uses.ts';
import type { NewRunRecord, RunEndRecord } from '../../runs/state/records.ts';

/** Table shapes as stored: snake_case, times in milliseconds, JSON as text. Domain types live in `runs/model.ts`. */
export interface Tables {
  definitions: { hash: string; kind: string; name: string; body: string; stored_at: number };
  runs: RunRow;
  raw_bodies: RawBodyRow;
  /** `family` is the step's name, of a fan-out branch the name before the slash. */
  step_executions: StepRow;
  /** One row holds the events that one transaction stored, as a JSON array. */
  run_events: { run_id: string; first_seq: number; events: string };
  run_feedback: { run_id: string; outcome: string; notes: string | null; submitted_at: number; submitted_by: string };
  step_feedback: {
    run_id: string;
    step_name: string;
    outcome: string;
    notes: string | null;
    submitted_at: number;
    submitted_by: string;
  };
  /** What a judged run counts as: its own mark, else the label of its last labelled execution. */
  run_labels: {
    run_id: string;
    triggered_at: number;
    pipeline_name: string;
    stage: string;
    team: string | null;
    outcome: string;
    /** The agents and models that the run had, as JSON; null until they are filled in after its day. */
    uses: string | null;
  };
  /** Executions that have an outcome: their own mark, else a failed check, else the mark of their run. */
  judged_steps: JudgedStepRow;
  /** Roll-ups read by the metrics: `labels` is a JSON array in the order that `observability/` documents. */
  counters: { metric: string; labels: string; value: number };
  /** Sums of statistics, an hour a row; `hour` in milliseconds, an empty name where there is none. */
  hourly_runs: HourlyRun;
  hourly_steps: HourlyStep;
  /** The same of closed days; `counts` is the JSON of a sketch, of runs under an empty step. */
  daily_runs: Omit<HourlyRun, 'hour'> & { day: number };
  daily_use: Omit<HourlyStep, 'hour' | 'step_name' | 'agent' | 'provider' | 'model' | 'status'> & { day: number };
  daily_steps: Omit<HourlyStep, 'hour'> & { day: number };
  daily_durations: { step_name: string; day: number; pipeline_name: string; stage: string; counts: string };
  /** The same of closed weeks; sketches of runs alone. */
  weekly_runs: Omit<HourlyRun, 'hour'> & { week: number };
  weekly_use: Omit<Tables['daily_use'], 'day'> & { week: number };
  weekly_steps: Omit<HourlyStep, 'hour'> & { week: number };
  weekly_durations: Omit<Tables['daily_durations'], 'day'> & { week: number };
  /** Runs of which, or of a step of which, there was ever a mark. */
  marked_runs: { run_id: string; seq: number; pipeline_name: string; stage: string; triggered_at: number };
  /** How often the executions of closed days used a prompt. */
  daily_prompts: {
    step_name: string;
    day: number;
    pipeline_name: string;
    prompt_hash: string;
    executions: number;
    first_at: number;
    last_at: number;
  };
  /** Ended runs of closed days with what each had, as `aggregates/uses/packed-runs.ts` packs them. */
  packed_runs: { day: number; part: number; body: Uint8Array };
  /** Executions of closed days for readiness, as `aggregates/evidence/packed-part.ts` packs them. */
  packed_evidence: {
    pipeline_name: string;
    stage: string;
    day: number;
    part: number;
    body: Uint8Array;
  };
  audit: {
    id: Generated<number>;
    ts: number;
    actor: string;
    actor_kind: string;
    role: string | null;
    action: string;
    target_type: string;
    target: string | null;
    run_id: string | null;
    outcome: string;
    prior_yaml: string | null;
    request_id: string | null;
  };
  /** The outbox (Orchestration 6); `source` and `message` are JSON. */
  notifications: NotificationRow;
  /** Questions to people; `fields`, `tool` and `answers` are JSON. */
  approvals: ApprovalRow;
  /** `missed_at`: when the service noticed that nothing was started; null where a run was. */
  schedule_fires: { pipeline_name: string; fire_at: number; missed_at: number | null };
  /** Single numbers that outlive a process, by name. */
  marks: { name: string; value: number };
  /** Processes that share a Postgres database; `epoch` grows and is never used twice. */
  replicas: { epoch: Generated<number>; name: string; expires_at: number };
  /** Runs that their owner is to cancel. */
  cancellations: { run_id: string; asked_by: string };
  /** Runs of a lane: `entered` is 1 for those that have one of its `places`, 0 for those that wait. */
  lane_places: { run_id: string; lane: string; places: number; entered: number };
  /** Where artifacts have no folder. */
  artifacts: { run_id: string; step_name: string; name: string; body: string; kept_at: number };
  /** Of the runs that need people. */
  attention: AttentionRow;
  /** Page sessions after a logout, until their cookies expire. */
  ended_sessions: { id: string; expires_at: number };
  /** Texts, as JSON, under their `prompt_hash`; they stay when definitions and runs are gone. */
  prompt_templates: { hash: string; template: string };
  /** Which step used which edition of its prompt and its agent, from when to when; empty where there is none. */
  version_uses: VersionUse;
  /** The texts, as JSON, behind an agent's version; `note` says why there are none, `wanted` is 1 while they may still be had. */
  agent_versions: {
    executor: string;
    agent: string;
    agent_version: string;
    soul_md: string | null;
    agent_yaml: string | null;
    note: string | null;
    wanted: number;
  };
  /** Alerts that a run covers beside its own, under their dedup keys. */
  run_alerts: { pipeline_name: string; alert_key: string; run_id: string };
  golden_sets: GoldenSetRow;
  /** Pinned executions; `step_id` is no reference, because a member outlives the row. */
  golden_members: GoldenMemberRow;
  /** Scheduled replays of a set, one row a fire. */
  regressions: RegressionRow;
  /** Runs that hold a batch of replays; `descriptor` is JSON. */
  replays: {
    run_id: string;
    kind: string;
    step_name: string;
    descriptor: string;
    launch_key: string | null;
    launch_hash: string | null;
  };
  /** What a batch replays; `pinned` is 0 or 1, `judgement` JSON. */
  replay_samples: ReplaySampleRow;
  /** What came in and what became of it; `labels`, `alerts` and `closest` are JSON. */
  deliveries: DeliveryRow;
  /** Context, delivery, events and texts of the steps of an ended run, compressed, under its `seq`; in their own columns until then. */
  run_bodies: { seq: number; body: Uint8Array };
  /** Terms of ended runs under their `seq`, written and asked through the dialect alone. */
  run_search: { rowid: number; words: string };
  /** Runs that had not ended when the search looked at them. */
  unsearched: { seq: number };
  /** The first and the last run that was triggered on a day, counted from 1970. */
  run_days: { day: number; first_seq: number; last_seq: number };
  schema_migrations: { id: string; applied_at: number };
}

export interface ReplaySampleRow {
  run_id: string;
  position: number;
  step_id: string | null;
  source_run_id: string | null;
  outcome: string | null;
  label_source: string | null;
  pinned: number;
  reason: string | null;
  judgement: string | null;
}

export interface AttentionRow {
  run_id: string;
  state: string;
  team: string | null;
  opened_at: number;
  assignee: string | null;
  note: string | null;
  acknowledged_at: number | null;
  acknowledged_by: string | null;
  resolved_at: number | null;
  resolved_by: string | null;
  resolution: string | null;
}

export interface NotificationRow {
  id: string;
  run_id: string | null;
  pipeline_name: string;
  stage: string;
  event: string;
  channel: string;
  instead_of: string | null;
  source: string;
  message: string;
  status: string;
  attempts: number;
  due_at: number;
  created_at: number;
  ended_at: number | null;
  error: string | null;
  receipt: string | null;
  /** From when it is tried again; null for its creation. */
  tried_from: number | null;
  /** JSON, the last ones; null where none is known. */
  tries: string | null;
}

export interface ApprovalRow {
  id: string;
  run_id: string;
  step_name: string;
  kind: string;
  pipeline_name: string;
  team: string | null;
  stage: string;
  question: string;
  fields: string;
  tool: string | null;
  status: string;
  requested_at: number;
  expires_at: number;
  decided_at: number | null;
  decided_by: string | null;
  comment: string | null;
  answers: string | null;
  /** Persons who have to approve; 0 or 1 for the starter; approvals so far as JSON, null for none. */
  required: number;
  not_the_starter: number;
  votes: string | null;
}

export interface GoldenSetRow {
  id: string;
  name: string;
  description: string;
  step_name: string;
  created_at: number;
  created_by: string;
  archived_at: number | null;
}

export interface GoldenMemberRow {
  id: string;
  set_id: string;
  step_id: string;
  run_id: string;
  step_name: string;
  outcome: string;
  label_source: string;
  note: string | null;
  pinned_at: number;
  pinned_by: string;
  prompt_hash: string | null;
  agent_version: string | null;
}

/** `beat_at` is renewed while the replay runs; the figures are null until it has ended. */
export interface RegressionRow {
  id: string;
  set_id: string;
  fire_at: number;
  status: string;
  run_id: string | null;
  started_at: number;
  beat_at: number;
  completed_at: number | null;
  n_members: number;
  n_regressed: number | null;
  n_improved: number | null;
  n_graded: number | null;
  n_unreplayable: number | null;
  n_unlabelled: number | null;
  n_divergences: number | null;
  baseline_accuracy: number | null;
  fresh_accuracy: number | null;
  alert: string | null;
  error: string | null;
}

/** A delivery as it came, compressed, under the hash of its JSON. */
export interface RawBodyRow {
  hash: string;
  body: Uint8Array;
  stored_at: number;
}

/** What the start and the end of a run write, and what only the store knows. */
export interface RunRow extends Omit<NewRunRecord, 'status' | 'raw'>, Omit<RunEndRecord, 'completed_at' | 'status'> {
  /** Null where `raw_hash` names the delivery in `raw_bodies`. */
  raw: string | null;
  raw_hash: string | null;
  status: string;
  seq: Generated<number>;
  completed_at: number | null;
  waiting_on: string | null;
  /** The epoch of the replica that has the run; null without one, and in the embedded database. */
  owner: number | null;
  /** JSON of what lists show of its conclusion; null until it is packed. */
  result: string | null;
}
