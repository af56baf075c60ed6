import type { Tx } from './database.ts';
import { statement } from './statement.ts';

/** Writes a page and changes nothing. */
const touch = statement<object>((db) =>
  db
    .updateTable('schema_migrations')
    .set((row) => ({ applied_at: row.ref('applied_at') }))
    .where('id', '=', '0001-initial'),
);

interface Writer {
  readonly healthy: boolean;
  write<T>(job: (tx: Tx) => T | Promise<T>): Promise<T>;
}

/**
 * Answers at once with the outcome of the last write. Where that failed, or is older than `trustedMs`, it also starts
 * a write of its own, so that an idle service notices that the database is back, or gone.
 */
export function createHealth(writer: Writer, options: { now: () => number; trustedMs: number }): () => boolean {
  let probing = false;
  let last = options.now();
  return () => {
    const due = !writer.healthy || Math.abs(options.now() - last) > options.trustedMs;
    if (due && !probing) {
      probing = true;
      writer
        .write((tx) => tx.run(touch, {}))
        .then(
          () => undefined,
          () => undefined, // `writer.healthy` says it
        )
        .finally(() => {
          probing = false;
          last = options.now();
        });
    }
    return writer.healthy;
  };
}
