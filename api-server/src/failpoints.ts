/** Faults that tests ask for through `SIGNALBOX_FAILPOINT`, comma-separated; none in production. */
export interface Failpoints {
  /** The engine goes on before its rows are stored. */
  stepRowLate: boolean;
  /** The database acknowledges before the fsync. */
  synchronousNormal: boolean;
}

export function readFailpoints(text: string | undefined): Failpoints {
  const names = new Set((text ?? '').split(','));
  return { stepRowLate: names.has('step_row_late'), synchronousNormal: names.has('synchronous_normal') };
}
