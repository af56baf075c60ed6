/** Of all that clients have begun to send to one server. */
const MAX_BYTES = 128 * 1024 * 1024;

export interface Unfinished<Sender> {
  /** A piece came, or less than none where one is gone. Over the bound the oldest, or those with most, that are not done are cut. */
  add(sender: Sender, bytes: number): void;
  /** All of it came, or nothing more does. Call what this returns when it is read. */
  done(sender: Sender): () => void;
}

/**
 * Bounds what waits in memory for its end, of all senders together: each may send as much as is read of one, and stop before the end.
 * `cut` closes the connection of a sender.
 */
export function createUnfinished<Sender>(
  cut: (sender: Sender) => void,
  maxBytes = MAX_BYTES,
  first: 'oldest' | 'largest' = 'oldest',
): Unfinished<Sender> {
  /** The oldest first. */
  const begun = new Map<Sender, number>();
  let sum = 0;
  const forget = (sender: Sender): number => {
    const bytes = begun.get(sender) ?? 0;
    begun.delete(sender);
    return bytes;
  };
  const inOrder = () => {
    const order = [...begun];
    if (first === 'largest') order.sort(([, one], [, other]) => other - one);
    return order.map(([sender]) => sender);
  };
  return {
    add(sender, bytes) {
      begun.set(sender, (begun.get(sender) ?? 0) + bytes);
      sum += bytes;
      if (sum <= maxBytes) return;
      for (const next of inOrder()) {
        if (sum <= maxBytes) return;
        sum -= forget(next);
        cut(next);
      }
    },
    done(sender) {
      let bytes = forget(sender);
      return () => {
        sum -= bytes;
        bytes = 0;
      };
    },
  };
}
