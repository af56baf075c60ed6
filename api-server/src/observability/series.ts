export interface Series {
  /** Without the prefix, as the roll-ups name it. */
  name: string;
  help: string;
  type: 'counter' | 'histogram';
  labels: readonly string[];
  /** Upper bounds of a histogram, without +Inf. */
  buckets?: readonly number[];
}

const DURATIONS = [1, 2, 5, 10, 30, 60, 120, 300, 600, 1200];
const TENTHS = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1];
const WHO = ['pipeline', 'step_name', 'executor', 'agent', 'model', 'provider'] as const;
const STEP = ['pipeline', 'step_name', 'agent', 'model', 'provider'] as const;

/** Every series that is read from the store's roll-ups, with its labels in their order (Orchestration 6). */
export const STORED_SERIES: readonly Series[] = [
  { name: 'pipeline_runs_total', help: 'Ended runs', type: 'counter', labels: ['pipeline', 'status'] },
  { name: 'pipeline_steps_total', help: 'Ended step executions', type: 'counter', labels: [...WHO, 'status'] },
  {
    name: 'pipeline_step_duration_seconds',
    help: 'Duration of step executions',
    type: 'histogram',
    labels: WHO,
    buckets: DURATIONS,
  },
  { name: 'verifier_runs_total', help: 'Verifier runs', type: 'counter', labels: ['agent'] },
  {
    name: 'verifier_overrides_total',
    help: 'Verifier runs that lowered the effective confidence',
    type: 'counter',
    labels: ['agent'],
  },
  {
    name: 'pipeline_tokens_total',
    help: 'Tokens by direction',
    type: 'counter',
    labels: ['team', ...WHO, 'direction'],
  },
  {
    name: 'pipeline_cached_input_tokens_total',
    help: 'Input tokens that the provider had cached',
    type: 'counter',
    labels: ['team', ...WHO],
  },
  {
    name: 'human_approval_decisions_total',
    help: 'Approvals decided by people',
    type: 'counter',
    labels: ['team', 'pipeline', 'decision'],
  },
  { name: 'pipeline_feedback_total', help: 'Marked runs by outcome', type: 'counter', labels: ['pipeline', 'outcome'] },
  {
    name: 'step_feedback_total',
    help: 'Marked step executions by outcome',
    type: 'counter',
    labels: [...STEP, 'outcome'],
  },
  {
    name: 'step_grounding_score',
    help: 'Grounding scores that were computed',
    type: 'histogram',
    labels: STEP,
    buckets: TENTHS,
  },
  {
    name: 'step_deterministic_check_total',
    help: 'Steps by the outcome of their checks',
    type: 'counter',
    labels: ['pipeline', 'step_name', 'outcome'],
  },
  {
    name: 'pipeline_cost_total',
    help: 'Priced cost in the configured currency',
    type: 'counter',
    labels: ['pipeline', 'team', 'model', 'provider', 'source'],
  },
  {
    name: 'agent_cost_total',
    help: 'Priced cost in the configured currency, by who was asked',
    type: 'counter',
    labels: ['team', 'executor', 'agent', 'model', 'provider'],
  },
  {
    name: 'notifications_total',
    help: 'Notifications by channel and result',
    type: 'counter',
    labels: ['channel', 'outcome'],
  },
  { name: 'runs_resumed_total', help: 'Runs resumed after a restart', type: 'counter', labels: ['pipeline'] },
  { name: 'replay_batches_total', help: 'Replay batches', type: 'counter', labels: ['step_name'] },
  { name: 'replay_steps_total', help: 'Replayed samples by grade', type: 'counter', labels: ['step_name', 'grade'] },
];
