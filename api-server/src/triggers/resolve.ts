import type { MatchContext } from '@signalbox/crds';
import { notLoaded } from '../definitions/not-loaded.ts';
import type { LoadedPipeline, Snapshot } from '../definitions/snapshot.ts';
import type { TriggerContext } from '../runs/state/model.ts';

export type Resolution = { ok: true; pipeline: LoadedPipeline } | { ok: false; message: string };

const NO_MATCH =
  'no pipeline matches this delivery; send it once more with dry_run=true to see what trigger.match was compared with';

/** Finds the pipeline of a context: the one it names, else the first whose `trigger.match` holds (Orchestration 4.1). */
export function resolve(snapshot: Snapshot, context: TriggerContext, team: string | null): Resolution {
  if (context.pipeline !== null) {
    const pipeline = snapshot.byName.get(context.pipeline);
    return pipeline
      ? { ok: true, pipeline }
      : { ok: false, message: notLoaded(snapshot, 'Pipeline', context.pipeline) };
  }
  const subject: MatchContext = { ...context, team };
  const pipeline = snapshot.pipelines.find(({ match }) => match?.matches(subject));
  return pipeline ? { ok: true, pipeline } : { ok: false, message: NO_MATCH };
}
