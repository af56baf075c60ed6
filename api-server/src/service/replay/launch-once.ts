import { AppError, shortHash } from '@signalbox/crds';
import type { Database } from '../../store/db/database.ts';
import { launchedAs, type LaunchKey } from '../../store/tables/replay/replays.ts';
import type { Actor } from '../actor.ts';

/** `Idempotency-Key` of the request: a repeated launch answers the batch of the first one. */
export interface LaunchOptions {
  key: string | null;
  actor: Actor;
  signal: AbortSignal;
}

const LOST_TO_ANOTHER: ReadonlySet<string> = new Set(['conflict', 'at_capacity']);

/**
 * Launches what was asked for, or finds the batch that was launched under the same key. Throws `conflict` where that was
 * asked for something else.
 */
export async function launchOnce(
  { db }: Pick<Database, 'db'>,
  asked: { options: LaunchOptions; what: unknown },
  launch: (key: LaunchKey | null) => Promise<string>,
): Promise<string> {
  const { key, actor } = asked.options;
  if (key === null) return launch(null);
  const own = { key: `${actor.name}:${key}`, hash: shortHash(asked.what) };
  const known = async () => {
    const earlier = await launchedAs(db, own.key);
    if (earlier && earlier.hash !== own.hash)
      throw new AppError('conflict', 'this Idempotency-Key was used for another replay');
    return earlier?.runId ?? null;
  };
  return (
    (await known()) ??
    launch(own).catch(async (error: unknown) => {
      // Two launches at the same time: the index, or the last place, lets one of them through.
      const other = error instanceof AppError && LOST_TO_ANOTHER.has(error.type) ? await known() : null;
      if (other !== null) return other;
      throw error;
    })
  );
}
