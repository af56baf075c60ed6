/** What must hold before traffic may come: true is well. */
export type Readiness = Record<'database' | 'database_file' | 'migrations' | 'definitions' | 'accepting', boolean>;

interface Log {
  error(fields: object, message: string): void;
  info(fields: object, message: string): void;
}

/** Returns readiness and logs every change of it, because answers of probes are rarely stored. A drain logs its own line. */
export function watchReadiness(read: () => Readiness, log: Log): () => Readiness {
  let known = '';
  return () => {
    const readiness = read();
    const failing = Object.entries(readiness).flatMap(([check, well]) =>
      well || check === 'accepting' ? [] : [check],
    );
    const found = failing.join(', ');
    if (found !== known) {
      if (found === '') log.info({}, 'ready again');
      else log.error({ failing }, 'not ready');
    }
    known = found;
    return readiness;
  };
}
