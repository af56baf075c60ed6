import type { RunEvent } from './run-event.ts';
import { shownEvent } from './shown-event.ts';
import { timestamp } from './timestamp.ts';

/** An event as the parameters of its notifications, encoded when one of the watchers first needs it. */
export function eventText(id: string, idempotency_key: string | undefined, event: RunEvent): () => string {
  const now = Date.now();
  const shown = shownEvent(event);
  let text: string | undefined;
  return () => (text ??= JSON.stringify({ run_id: id, ts: timestamp(now), idempotency_key, ...shown }));
}
