import type { Figures } from '../../../service/views/analytics/statistics.ts';
import { count, duration, money, percent } from '../format.ts';

/** Numbers in a few characters: `12 480`, `1.2 M`. */
export const amount = (n: number): string => (n < 1_000_000 ? count(Math.round(n)) : `${(n / 1_000_000).toFixed(1)} M`);

type Costs = Pick<Figures, 'cost'>;

export const cost = (figures: Costs): string =>
  figures.cost.total === null ? '–' : money(figures.cost.total, figures.cost.currency);

interface Spent {
  cost: Pick<Figures['cost'], 'total' | 'unpriced_steps'>;
}

/** A note where part of the cost is unpriced; null otherwise. */
export const unpricedNote = ({ cost: { total, unpriced_steps: unpriced } }: Spent): string | null => {
  if (unpriced === 0) return null;
  const steps = `${count(unpriced)} ${unpriced === 1 ? 'step has' : 'steps have'} no price`;
  return total === null ? steps : `${steps} and ${unpriced === 1 ? 'is' : 'are'} left out`;
};

type Labelled = Pick<Figures, 'accuracy'>;

/** What the page calls accuracy everywhere. */
export const accuracyOf = ({ accuracy }: Labelled): number | null => accuracy.mean_label;

/** What the accuracy counts: `9 runs labelled: 7 correct, 1 partial, 1 incorrect`. */
export function labelsText({ accuracy: { counts, total, correct, partial, incorrect } }: Labelled): string {
  const noun = total === 1 ? counts.slice(0, -1) : counts;
  if (total === 0) return `no ${counts} labelled`;
  return `${count(total)} ${noun} labelled: ${count(correct)} correct, ${count(partial)} partial, ${count(incorrect)} incorrect`;
}

/** Stays on one line. */
const unbroken = (text: string): string => text.replaceAll(' ', '\u00a0');

/** What a run that waited for people adds to its machine time; null where none waited. */
export const waitingNote = ({
  duration_seconds: { waiting_p95: waiting },
}: Pick<Figures, 'duration_seconds'>): string | null =>
  waiting === null ? null : `waiting for people: p95 ${unbroken(duration(waiting))} of the runs that waited`;

interface Change {
  text: string;
  tone: 'good' | 'bad' | 'quiet';
}

interface Compared {
  now: number | null;
  before: number | null;
  /** Words for more and for less. */
  words: readonly [string, string];
  better?: 'more' | 'less';
  /** The difference of shares is in points, of amounts in percent. */
  share?: boolean;
}

/** Smaller differences are shown as the same. */
const SAME = 0.0005;
/** Differences up to this are shown without a tone. */
const SLIGHT = 0.01;

/** `then` names the previous window, such as `in the 7 days before`; null without a figure. */
function change(compared: Compared, then: string): Change | null {
  if (compared.now === null) return null;
  const by = difference(compared);
  if (by === null) return { text: `none ${then}`, tone: 'quiet' };
  if (Math.abs(by) < SAME) return { text: `the same as ${then}`, tone: 'quiet' };
  const [more, less] = compared.words;
  const size = (Math.abs(by) * 100).toFixed(Math.abs(by) < 0.1 ? 1 : 0);
  const text = `${size}${compared.share ? ' points' : '%'} ${by > 0 ? more : less} than ${then}`;
  return { text, tone: toneOf(by, compared.better) };
}

/** As a share of what was before, or in points where both are shares; null where there is nothing to compare. */
function difference({ now, before, share = false }: Compared): number | null {
  if (now === null || before === null) return null;
  if (share) return now - before;
  return before === 0 ? null : (now - before) / before;
}

function toneOf(by: number, better: Compared['better']): Change['tone'] {
  if (better === undefined || Math.abs(by) < SLIGHT) return 'quiet';
  return by > 0 === (better === 'more') ? 'good' : 'bad';
}

interface Links {
  runs: string;
  failed: string;
}

/** The tiles: each figure with its change and a link to its runs. */
export function figureTiles(now: Figures, before: Figures | null, { then, links }: { then: string; links: Links }) {
  const tile = (
    label: string,
    figure: string,
    compared: Compared,
    more: { note?: string | null; href?: string } = {},
  ) => ({
    label,
    figure,
    note: more.note ?? null,
    href: more.href ?? links.runs,
    change: before === null ? null : change(compared, then),
  });
  const pair = (pick: (figures: Figures) => number | null) => ({ now: pick(now), before: before && pick(before) });
  const amounts = ['more', 'less'] as const;
  const shares = ['higher', 'lower'] as const;
  return [
    tile('Runs', count(now.runs_total), { ...pair((one) => one.runs_total), words: amounts }),
    tile(
      'Success',
      percent(now.success_rate),
      { ...pair((one) => one.success_rate), words: shares, better: 'more', share: true },
      { href: links.failed },
    ),
    tile('Cost', cost(now), { ...pair((one) => one.cost.total), words: amounts }, { note: unpricedNote(now) }),
    tile('Tokens', amount(now.tokens.total), { ...pair((one) => one.tokens.total), words: amounts }),
    tile(
      'Machine time, p95',
      duration(now.duration_seconds.machine_p95),
      { ...pair((one) => one.duration_seconds.machine_p95), words: ['longer', 'shorter'], better: 'less' },
      { note: waitingNote(now) },
    ),
    tile(
      'Accuracy',
      percent(accuracyOf(now)),
      { ...pair(accuracyOf), words: shares, better: 'more', share: true },
      { note: labelsText(now) },
    ),
  ];
}
