import type { AnyReplayReport } from '../../../service/views/replay-report.ts';
import { apiPath } from '../curl.ts';
import { paths } from '../paths.ts';
import { isActive, statusLook } from '../status.ts';

export interface Progress {
  operator: boolean;
  /** Samples that were attempted. */
  done: number;
  samples: number;
  /** All of them in words. */
  of: string;
}

/** What the head of every report has: its state, how far it is, and what can be done with it. */
export function headOf(
  { run_id: id, status }: Pick<AnyReplayReport, 'run_id' | 'status'>,
  { operator, done, samples, of }: Progress,
) {
  const active = isActive(status);
  const mayCancel = active && operator;
  return {
    list: paths.replays(),
    runHref: paths.run(id),
    status: statusLook(status),
    cancel: mayCancel ? paths.replayCancel(id) : null,
    commands: mayCancel ? [{ label: 'Cancel', path: apiPath('runs', id, 'cancel') }] : [],
    progress: active ? { value: String(done), max: String(Math.max(1, samples)), words: `${done} of ${of}` } : null,
    exports: active
      ? []
      : (['csv', 'jsonl'] as const).map((format) => ({
          href: paths.replayExport(id, format),
          label: format === 'csv' ? 'CSV' : 'JSONL',
        })),
  };
}
