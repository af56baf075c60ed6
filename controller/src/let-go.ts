import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

export interface LetGo {
  /** There was work; once there has been none for a while, the memory that only the work needed goes back. */
  worked(): void;
  stop(): void;
}

const QUIET_MS = 2000;

/**
 * A controller works for seconds and waits for hours, and V8 collects while it works. What a large batch leaves behind
 * would stay in memory until the next one, in every pod that has a sidecar.
 */
export function createLetGo(): LetGo {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as (options: object) => void;
  let timer: NodeJS.Timeout | null = null;
  const stop = () => {
    if (timer) clearTimeout(timer);
  };
  return {
    worked: () => {
      stop();
      timer = setTimeout(() => {
        // What the first one finds unused the second one gives back.
        for (let round = 0; round < 2; round++) collect({ type: 'major', flavor: 'last-resort' });
      }, QUIET_MS);
      timer.unref();
    },
    stop,
  };
}
