import type { AttentionState } from '../../../runs/state/attention.ts';
import type { RunStatus, Stage } from '../../../runs/state/model.ts';
import type { RunOrder } from '../../../runs/state/run-order.ts';

/** Filters of `GET /runs`; times in milliseconds, `since` included, `until` not. */
export interface RunFilter {
  /** Any of these. */
  status?: readonly RunStatus[];
  pipeline?: string;
  team?: string;
  /** Only runs without a team, or only those with one. */
  teamless?: boolean;
  stage?: Stage;
  severity?: string;
  source?: string;
  fingerprint?: string;
  /** Words, or beginnings of words, of the summary, the labels and the pipeline's name, or the beginning of the id. */
  q?: string;
  labels?: { key: string; value: string }[];
  since?: number;
  until?: number;
  agent?: string;
  model?: string;
  parent?: string;
  /** Only runs with warnings, or only those without. */
  warnings?: boolean;
  /** Only batches of replays, or only runs that are none. */
  replay?: boolean;
  /** Only runs that wait for a person, or only those that do not. */
  waiting?: boolean;
  /** Any of these. */
  attention?: readonly AttentionState[];
}

/** `before` is the sequence of the last row of the page before; it wins over `offset`. */
export interface PageOfRuns {
  limit: number;
  offset: number;
  before?: number;
  /** `age`, the newest first, where absent. */
  order?: RunOrder;
}
