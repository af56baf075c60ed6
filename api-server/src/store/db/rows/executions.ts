import { sql } from 'kysely';

/**
 * Rows of `step_executions` that statistics count: ended ones, but for those that were skipped and the rows of groups, whose
 * branches do the work. The first condition is the one of the index `step_executions_ended`.
 */
export const isExecution = () => sql<boolean>`completed_at is not null and ${isWork()}`;

/** The same with those that have not ended. */
export const isWork = () => sql<boolean>`status <> 'skipped' and kind not in ('parallel', 'fan_out')`;

/** Leaves out the candidates of replays, which are no work of a pipeline. */
export const notReplayed = () => sql<boolean>`step_executions.run_id not in (select run_id from replays)`;

/** The same of runs. Their `source` says nothing: a sender chooses what its alert calls its source. */
export const isNoReplay = () => sql<boolean>`runs.id not in (select run_id from replays)`;
