/**
 * Kills the process at a step that a test chooses with `SIGNALBOX_FAILPOINT`: `file:7` at the seventh operation on a file,
 * `api:3` at the third step of requests to the API server. Null in production, where nothing is counted.
 */
export type Reach = (point: 'file' | 'api') => void;

export function readFailpoint(text: string | undefined, die: () => void = dieNow): Reach | null {
  const [, wanted, count] = /^(file|api):(\d+)$/.exec(text ?? '') ?? [];
  if (wanted === undefined) return null;
  let left = Number(count);
  return (point) => {
    if (point === wanted && --left === 0) die();
  };
}

const dieNow = () => void process.kill(process.pid, 'SIGKILL');
