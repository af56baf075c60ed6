import { type MatchContext, MAX_PATTERN_TEXT } from '@signalbox/crds';
import { notLoaded } from '../definitions/not-loaded.ts';
import type { LoadedPipeline, Snapshot } from '../definitions/snapshot.ts';
import type { TriggerContext } from '../runs/state/model.ts';

export type Resolution = { ok: true; pipeline: LoadedPipeline } | { ok: false; message: string };

/** A rule of `trigger.match` that did not match because the text under its key is too long for its pattern. */
export interface TooLong {
  pipeline: string;
  key: string;
}

interface Asking {
  team: string | null;
  byPerson: boolean;
  onTooLong?: (found: TooLong) => void;
}

const NO_MATCH =
  'no pipeline matches this delivery; closest, in the answer to the same request with dry_run=true, lists the rules that did not hold';

/** Whether the namespace of a pipeline may get an alert. */
export const admits = (pipeline: LoadedPipeline, subject: MatchContext): boolean => pipeline.admits?.(subject) ?? true;

const notAdmitted = (pipeline: string): string =>
  `pipeline "${pipeline}" does not get this alert: tenancy.namespaces does not admit it`;

/**
 * Finds the pipeline of a context: the one it names, else the first whose `trigger.match` holds (Orchestration 4.1). An alert
 * reaches a pipeline only where its namespace admits it; a run that a person starts is not asked.
 */
export function resolve(
  snapshot: Snapshot,
  context: TriggerContext,
  { team, byPerson, onTooLong }: Asking,
): Resolution {
  const subject: MatchContext = { ...context, team };
  if (context.pipeline !== null) {
    const pipeline = snapshot.byName.get(context.pipeline);
    if (!pipeline) return { ok: false, message: notLoaded(snapshot, { kind: 'Pipeline', name: context.pipeline }) };
    return byPerson || admits(pipeline, subject)
      ? { ok: true, pipeline }
      : { ok: false, message: notAdmitted(pipeline.name) };
  }
  const tooLong: TooLong[] = [];
  const matches = ({ name, match }: LoadedPipeline) =>
    match?.matches(subject, (key) => tooLong.push({ pipeline: name, key }));
  const pipeline = snapshot.pipelines.find((one) => matches(one) && admits(one, subject));
  for (const found of tooLong) onTooLong?.(found);
  return pipeline
    ? { ok: true, pipeline }
    : { ok: false, message: [NO_MATCH, ...tooLong.slice(0, MOST_NAMED).map(saying)].join('; ') };
}

/** Rules that one message names. */
const MOST_NAMED = 3;

const saying = ({ pipeline, key }: TooLong): string =>
  `pipeline "${pipeline}": ${key} is longer than ${MAX_PATTERN_TEXT} characters, so the rule does not match`;
