import type { RunLine } from '../../../../service/views/run.ts';
import { shorten } from '../../format.ts';
import { statusLook } from '../../status.ts';

const LISTED = 180;

/** Runs of these statuses say why in every list. */
const SAYS_WHY: ReadonlySet<string> = new Set(['escalated', 'failed', 'aborted', 'stopped', 'interrupted']);

type Shown = Pick<RunLine, 'status' | 'error' | 'result'>;

function reasonOf({ status, error }: Shown) {
  if (error === null || !SAYS_WHY.has(status)) return null;
  const text = error.step === null ? error.message : `${error.step}: ${error.message}`;
  return { text: shorten(text, LISTED), title: text, tone: statusLook(status).tone };
}

const words = (name: string): string => name.replaceAll('_', ' ');

export const actionWords = ({ actions }: NonNullable<RunLine['result']>) =>
  actions.map(({ name, value }) => ({ name: words(name), value }));

/** The second line of a row: why the run did not complete, what it concluded, what it proposes. Null where nothing is known. */
export function resultLine(run: Shown) {
  const reason = reasonOf(run);
  const { result } = run;
  if (reason === null && result === null) return null;
  return {
    reason,
    conclusion: result === null ? '' : shorten(result.conclusion, LISTED),
    actions: result === null ? [] : actionWords(result).map(({ name, value }) => ({ name, value: shorten(value, 60) })),
  };
}
