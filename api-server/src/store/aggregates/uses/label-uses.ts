import { keyName } from '../../../runs/state/hourly.ts';
import { lastMark } from '../../tables/marks.ts';
import { statement } from '../../db/statement.ts';
import { CLOSED } from '../daily/closed-days.ts';
import type { Scope } from '../scope.ts';
import type { PackDeps } from './pack-days.ts';
import type { Use } from './packed-runs.ts';
import { withUses } from './stored-uses.ts';

/** Labels that are looked at together. */
const BATCH = 100;

/** Of uses that an index has with their label: an entry of an index of Postgres has at most 2,704 bytes. */
const MAX_BYTES = 1_500;
/** In place of uses that take more; the executions of the run say them. */
export const NOT_NOTED = '';

const setUses = statement<{ run_id: string; uses: string }>((db, slot) =>
  db.updateTable('run_labels').set({ uses: slot.uses }).where('run_id', '=', slot.run_id),
);

/** Notes with the labels of closed days what their runs used, which nothing changes any more. Answers how many. */
export async function noteUses({ database, signal }: PackDeps): Promise<number> {
  const closed = (await lastMark(database.reader(signal), CLOSED)) ?? 0;
  for (let [noted, from] = [0, 0]; ;) {
    const db = database.reader(signal);
    const labels = signal.aborted
      ? []
      : await db
          .selectFrom('run_labels')
          .select(['run_id as id', 'triggered_at'])
          .where('uses', 'is', null)
          .where('triggered_at', '>=', from)
          .where('triggered_at', '<', closed)
          .orderBy('triggered_at')
          .limit(BATCH)
          .execute();
    const last = labels.at(-1);
    if (last === undefined) return noted;
    for await (const some of withUses(db, labels))
      await database.write(async (tx) => {
        for (const { id, uses } of some) await tx.run(setUses, { run_id: id, uses: textOf(uses) });
      });
    noted += labels.length;
    from = last.triggered_at;
  }
}

function textOf(uses: readonly Use[]): string {
  const json = JSON.stringify(uses);
  return Buffer.byteLength(json) > MAX_BYTES ? NOT_NOTED : json;
}

/** What stands in the JSON of the uses of runs that had an execution of the agent and the model; quotes within a name are escaped there. */
export function inUses({ agent, model }: Pick<Scope, 'agent' | 'model'>): string {
  const named = (kind: 'agent' | 'model', name: string | undefined) =>
    name === undefined ? '' : JSON.stringify(keyName(kind, name));
  return `${agent === undefined ? '' : '['}${named('agent', agent)},${named('model', model)}${model === undefined ? '' : ']'}`;
}
