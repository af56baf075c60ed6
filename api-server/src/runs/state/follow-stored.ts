import type { EventHub, RunFrame } from './events.ts';
import { isTerminal, type RunEvent, type RunStatus } from './model.ts';

export interface FollowDeps {
  hub: Pick<EventHub, 'subscribe' | 'isLive'>;
  readStored(runId: string, afterSeq: number): Promise<RunEvent[]>;
  /** Null for a run that is not there any more. */
  readStatus(runId: string): Promise<string | null>;
  everyMs: number;
}

/** As `EventHub.subscribe`; a run of another process is followed by polling what that process stored. */
export function followStored({ hub, readStored, readStatus, everyMs }: FollowDeps): EventHub['subscribe'] {
  return (runId, listener) => {
    let last = 0;
    let over = false;
    const publish = (frame: RunFrame) => {
      if ('seq' in frame) {
        if (frame.seq <= last) return;
        last = frame.seq;
      } else over = true;
      listener(frame);
    };
    const look = async () => {
      // The status first: the events of an ended run are all there.
      const status = (await readStatus(runId)) as RunStatus | null;
      for (const event of await readStored(runId, last)) publish(event);
      if (!over && status !== null && isTerminal(status)) publish({ type: 'run_complete', status });
    };
    let timer: NodeJS.Timeout | undefined;
    const later = () => {
      timer = setTimeout(() => {
        const looked = over || hub.isLive(runId) ? Promise.resolve() : look().catch(() => undefined);
        void looked.then(() => (over ? undefined : later()));
      }, everyMs);
      timer.unref();
    };
    later();
    const leave = hub.subscribe(runId, publish);
    return () => {
      over = true;
      clearTimeout(timer);
      leave();
    };
  };
}
