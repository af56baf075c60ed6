import type { KyselyPlugin, RootOperationNode } from 'kysely';
import type { Database, Tx } from './database.ts';
import { compile, type Statement } from './statement.ts';

/**
 * Tells of every transaction what it changes, as `<table>.<verb>`: `.before` its commit, when nothing of it is durable, and
 * `.after`, before anybody acts on it. What a process knows and has not stored dies with it, so between two of these points
 * all moments are the same to the next start: a kill at each is a kill everywhere. The verb of an update that ends a run or
 * a step is `end`.
 */
export function watchWrites(database: Database, reach: (point: string) => void): Database {
  return {
    ...database,
    db: database.db,
    write: async (job) => {
      const changed = new Set<string>();
      const result = await database.write(async (tx) => {
        changed.clear();
        const answer = await job(watched(tx, changed));
        for (const change of changed) reach(`${change}.before`);
        return answer;
      });
      for (const change of changed) reach(`${change}.after`);
      return result;
    },
  };
}

function watched(tx: Tx, changed: Set<string>): Tx {
  const names = new Map<Statement<never, unknown>, string | null>();
  return {
    db: tx.db.withPlugin(noting(changed)),
    all: (query, input) => tx.all(query, input),
    lock: (name) => tx.lock(name),
    epoch: tx.epoch,
    notify: (message) => tx.notify(message),
    count: (counter) => tx.count(counter),
    sum: (hourly) => tx.sum(hourly),
    run: (query, input) => {
      const key = query as Statement<never, unknown>;
      if (!names.has(key)) names.set(key, changeOf(compile(tx.db, query).sql));
      const name = names.get(key);
      if (name) changed.add(name);
      return tx.run(query, input);
    },
  };
}

/** The change of a compiled statement; null where it only reads. */
function changeOf(sql: string): string | null {
  const [, verb, table] = /^(insert into|update|delete from) "(\w+)"/.exec(sql) ?? [];
  if (verb === undefined || table === undefined) return null;
  if (verb !== 'update') return `${table}.${verb.split(' ')[0] ?? verb}`;
  return `${table}.${/"completed_at" = /.test(sql) ? 'end' : 'update'}`;
}

const noting = (changed: Set<string>): KyselyPlugin => ({
  transformQuery: ({ node }) => {
    const name = changeIn(node);
    if (name !== null) changed.add(name);
    return node;
  },
  transformResult: async ({ result }) => result,
});

interface Named {
  table: { identifier: { name: string } };
}

function changeIn(node: RootOperationNode): string | null {
  switch (node.kind) {
    case 'InsertQueryNode':
      return node.into ? `${node.into.table.identifier.name}.insert` : null;
    case 'UpdateQueryNode':
      return node.table ? `${(node.table as unknown as Named).table.identifier.name}.update` : null;
    case 'DeleteQueryNode':
      return `${(node.from.froms[0] as unknown as Named).table.identifier.name}.delete`;
    default:
      return null;
  }
}
