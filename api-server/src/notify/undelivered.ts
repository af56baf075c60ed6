/** Messages of a channel that did not reach it: `waiting` are tried again, `failed` are not. */
export interface Undelivered {
  channel: string;
  state: 'waiting' | 'failed';
  count: number;
}

/** A count is given out for so long before there is a new one. */
const FRESH_MS = 1_000;

export interface UndeliveredCount {
  /** Counts now, or as part of the count that goes on. */
  count(signal: AbortSignal): Promise<readonly Undelivered[]>;
  /** The last count while it is fresh or another goes on. */
  recent(signal: AbortSignal): Promise<readonly Undelivered[]>;
  last(): readonly Undelivered[];
}

/** Keeps the last count; there is one at a time. */
export function createUndeliveredCount(
  read: (signal: AbortSignal) => Promise<readonly Undelivered[]>,
  elapsed = () => performance.now(),
): UndeliveredCount {
  let last: { at: number; counts: readonly Undelivered[] } | null = null;
  let counting: Promise<readonly Undelivered[]> | null = null;
  const readNow = async (signal: AbortSignal) => {
    try {
      const counts = await read(signal);
      last = { at: elapsed(), counts };
      return counts;
    } finally {
      counting = null;
    }
  };
  const count = (signal: AbortSignal) => (counting ??= readNow(signal));
  return {
    count,
    recent: async (signal) => (last && (counting || elapsed() - last.at < FRESH_MS) ? last.counts : count(signal)),
    last: () => last?.counts ?? [],
  };
}

/** One line for operators, without what the messages say. */
export function warningOf({ channel, state, count }: Undelivered): string {
  const [messages, them] = count === 1 ? ['1 message', 'it'] : [`${count} messages`, 'them'];
  const list = `GET /notifications?status=${state === 'failed' ? 'failed' : 'pending'} lists ${them}`;
  return state === 'failed'
    ? `${messages} could not be delivered to ${channel}; ${list}`
    : `${messages} could not be delivered to ${channel} yet; ${list}`;
}
