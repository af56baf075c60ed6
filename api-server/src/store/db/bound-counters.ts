import type { Counter } from '../../runs/state/records.ts';
import type { Database, Tx } from './database.ts';

/** Every roll-up is counted under the labels that `bound` answers. */
export const boundCounters = (database: Database, bound: (counter: Counter) => Counter): Database => ({
  ...database,
  write: (job) => database.write((tx) => job(within(tx, bound))),
});

const within = (tx: Tx, bound: (counter: Counter) => Counter): Tx => ({
  db: tx.db,
  all: (query, input) => tx.all(query, input),
  run: (query, input) => tx.run(query, input),
  lock: (name) => tx.lock(name),
  epoch: tx.epoch,
  notify: (message) => tx.notify(message),
  count: (counter) => tx.count(bound(counter)),
  sum: (hourly) => tx.sum(hourly),
});
