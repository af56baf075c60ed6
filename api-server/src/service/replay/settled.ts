import { AppError } from '@signalbox/crds';
import { isTerminal, type RunStatus, type TerminalRunStatus } from '../../runs/state/model.ts';
import type { RunFrame } from '../../runs/state/events.ts';
import type { Database } from '../../store/db/database.ts';
import { readStatus } from '../../store/tables/interrupted.ts';

export interface SettledDeps {
  database: Pick<Database, 'db'>;
  subscribe(runId: string, listener: (frame: RunFrame) => void): () => void;
}

/** How the run ended, once it has, on whichever replica. Rejects with `unavailable` when the signal fires first; the run goes on. */
export async function settled(
  { database, subscribe }: SettledDeps,
  runId: string,
  signal: AbortSignal,
): Promise<TerminalRunStatus> {
  const { promise, resolve, reject } = Promise.withResolvers<TerminalRunStatus>();
  const leave = subscribe(runId, (frame) => {
    if ('type' in frame && frame.type === 'run_complete') resolve(frame.status as TerminalRunStatus);
  });
  const giveUp = () => reject(new AppError('unavailable', `run ${runId} goes on; ask for its report`));
  signal.addEventListener('abort', giveUp, { once: true });
  try {
    const status = (await readStatus(database.db, runId)) as RunStatus | null;
    if (status !== null && isTerminal(status)) return status;
    if (signal.aborted) giveUp();
    return await promise;
  } finally {
    leave();
    signal.removeEventListener('abort', giveUp);
  }
}
