import { type Compilable, type Kysely } from 'kysely';
import type { Tables } from './schema.ts';

/** Stands for a bound value while a statement is compiled. */
class Slot {
  readonly key: string;
  constructor(key: string) {
    this.key = key;
  }
}

/** A query that is built and compiled once and then run with `P`, giving rows `R`. */
export interface Statement<P, R> {
  readonly build: (db: Kysely<Tables>, slots: P) => Compilable<R>;
}

export interface Compiled<P> {
  readonly sql: string;
  readonly bind: (input: P) => unknown[];
}

/**
 * Declares a hot query: Kysely checks it and writes its SQL, but not on every call
 * (building and compiling costs more than SQLite needs to run it).
 */
export function statement<P, R = unknown>(build: (db: Kysely<Tables>, slots: P) => Compilable<R>): Statement<P, R> {
  return { build };
}

/** The slots of these columns, for `values` and `set`. */
export const columns = <Row, Name extends keyof Row>(slot: Row, names: readonly Name[]): Pick<Row, Name> =>
  Object.fromEntries(names.map((name) => [name, slot[name]])) as Pick<Row, Name>;

/** Compiles a statement for the dialect of `db`; constants in the query stay constants. */
export function compile<P>(db: Kysely<Tables>, { build }: Statement<P, unknown>): Compiled<P> {
  const slots = new Proxy({}, { get: (_, key) => new Slot(String(key)) }) as P;
  const { sql, parameters } = build(db, slots).compile();
  const keys = parameters.map((parameter) => (parameter instanceof Slot ? (parameter.key as keyof P) : null));
  const bind = (input: P) => keys.map((key, at) => (key === null ? parameters[at] : input[key]));
  return { sql, bind };
}
