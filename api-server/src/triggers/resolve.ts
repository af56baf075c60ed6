import type { MatchContext } from '@signalbox/crds';
import { admits, mayAdmit } from '../definitions/admits.ts';
import { notLoaded } from '../definitions/not-loaded.ts';
import type { LoadedPipeline, Snapshot } from '../definitions/snapshot.ts';
import type { TriggerContext } from '../runs/state/model.ts';
import type { PatternTurns } from './pattern-turns.ts';

export type Resolution = { ok: true; pipeline: LoadedPipeline } | { ok: false; message: string };

/** A rule of `trigger.match` that did not match because the text under its key is too long for its pattern, or the delivery for all rules. */
export interface TooLong {
  pipeline: string;
  key: string;
}

interface Asking {
  team: string | null;
  byPerson: boolean;
  onTooLong?: (found: TooLong) => void;
  turns: PatternTurns;
}

/** Where an answer that has no `closest` points to; a dry run has it. */
export const WHERE_CLOSEST = ', in the answer to the same request with dry_run=true,';
const NO_MATCH = `no pipeline matches this delivery; closest${WHERE_CLOSEST} lists the rules that did not hold`;

const notAdmitted = (pipeline: string): string =>
  `pipeline "${pipeline}" does not get this alert: tenancy.namespaces does not admit it`;

/**
 * Finds the pipeline of a context: the one it names, else the first whose `trigger.match` holds (Orchestration 4.1). An alert
 * reaches a pipeline only where its namespace admits it; a run that a person starts is not asked.
 */
export async function resolve(
  snapshot: Snapshot,
  context: TriggerContext,
  { team, byPerson, onTooLong, turns }: Asking,
): Promise<Resolution> {
  const subject: MatchContext = { ...context, team };
  if (context.pipeline !== null) {
    const pipeline = snapshot.byName.get(context.pipeline);
    if (!pipeline) return { ok: false, message: notLoaded(snapshot, { kind: 'Pipeline', name: context.pipeline }) };
    return byPerson || admits(pipeline, subject)
      ? { ok: true, pipeline }
      : { ok: false, message: notAdmitted(pipeline.name) };
  }
  const tooLong: TooLong[] = [];
  const pipeline = await firstMatch(snapshot, subject, { turns, note: (one) => tooLong.push(one) });
  for (const one of tooLong) onTooLong?.(one);
  return pipeline
    ? { ok: true, pipeline }
    : { ok: false, message: [NO_MATCH, ...tooLong.slice(0, MOST_NAMED).map(saying)].join('; ') };
}

async function firstMatch(
  { pipelines }: Snapshot,
  subject: MatchContext,
  { turns, note }: Pick<Asking, 'turns'> & { note: (one: TooLong) => void },
): Promise<LoadedPipeline | null> {
  for (const one of pipelines) {
    if (turns.count(one.admission?.work)) await turns.rest();
    const work = patternWork(one, subject, turns);
    if (work === null || !admits(one, subject)) continue;
    if (work > 0 && !(await turns.take(one, work))) note({ pipeline: one.name, key: SHARE });
    else if (one.match?.matches(subject, (key) => note({ pipeline: one.name, key }))) return one;
  }
  return null;
}

/** What the patterns of a pipeline cost, more than there is where its namespace has had its share; null where another rule does not hold. */
function patternWork(pipeline: LoadedPipeline, subject: MatchContext, turns: PatternTurns): number | null {
  const { match } = pipeline;
  if (match === null || !mayAdmit(pipeline, subject)) return null;
  return turns.spend(pipeline, match.work) ? match.patternWork(subject) : Infinity;
}

/** Rules that one message names. */
const MOST_NAMED = 3;
/** In place of a key: the rules were not compared. */
const SHARE = 'the delivery with the rules of the namespace';

const saying = ({ pipeline, key }: TooLong): string =>
  `pipeline "${pipeline}": ${key} is too long for its patterns, so the rule does not match`;
