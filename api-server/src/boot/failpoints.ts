/**
 * Faults that tests inject through `SIGNALBOX_FAILPOINT`, comma-separated; none in production.
 * `step_row_late`, `synchronous_normal` and `unfenced` break a guarantee on purpose; `short_lease` shortens the leases.
 * `trace` writes the name of every point to stderr when it is reached. Any other value is a point at which the process
 * dies as with `kill -9`; `:n` selects the n-th time that it is reached, and `any:n` the n-th point of any name.
 */
export interface Failpoints {
  /** The engine continues before its rows are stored. */
  stepRowLate: boolean;
  /** The database acknowledges before the fsync. */
  synchronousNormal: boolean;
  /** A replica that lost its lease continues to write. */
  unfenced: boolean;
  /** Leases of two seconds. */
  shortLease: boolean;
  /** Called at every point; null without failpoints, and then no call is wrapped. */
  reach: ((point: string) => void) | null;
}

/** How a process ends at a point. */
export interface Deadly {
  die(): void;
  say(line: string): void;
}

const REAL: Deadly = {
  die: () => process.kill(process.pid, 'SIGKILL'),
  say: (line) => process.stderr.write(line),
};

const FAULTS = ['step_row_late', 'synchronous_normal', 'unfenced', 'short_lease'];

export function readFailpoints(text: string | undefined, deadly: Deadly = REAL): Failpoints {
  const asked = (text ?? '').split(',').filter((name) => name !== '');
  const points = asked.filter((name) => !FAULTS.includes(name));
  return {
    stepRowLate: asked.includes('step_row_late'),
    synchronousNormal: asked.includes('synchronous_normal'),
    unfenced: asked.includes('unfenced'),
    shortLease: asked.includes('short_lease'),
    reach: points.length > 0 ? counter(points, deadly) : null,
  };
}

function counter(asked: readonly string[], { die, say }: Deadly): (point: string) => void {
  const seen = new Map<string, number>();
  const countOf = (name: string) => {
    const count = (seen.get(name) ?? 0) + 1;
    seen.set(name, count);
    return count;
  };
  const wanted = new Set(asked.map((name) => (/:\d+$/.test(name) ? name : `${name}:1`)));
  const traces = asked.includes('trace');
  return (point) => {
    const names = [`${point}:${countOf(point)}`, `any:${countOf('any')}`];
    if (traces) say(`failpoint ${names[0]}\n`);
    if (names.some((name) => wanted.has(name))) die();
  };
}

/** Adds the points `<name>.before` and `<name>.after` around a call that leaves the process. */
export function surround<A extends unknown[], R>(
  { reach }: Pick<Failpoints, 'reach'>,
  name: string,
  call: (...args: A) => Promise<R>,
): (...args: A) => Promise<R> {
  if (reach === null) return call;
  return async (...args) => {
    reach(`${name}.before`);
    const result = await call(...args);
    reach(`${name}.after`);
    return result;
  };
}
