import type { RunDetail } from '../../../../service/views/run.ts';
import { shorten } from '../../format.ts';
import { paths } from '../../paths.ts';

const MAX_LABELS = 40;
const MAX_LENGTH = 80;
/** A longer filter is cut by the list. */
const MAX_FILTER = 200;

/** Where alert sources put an address, by what it leads to; the first one that there is counts. */
const LINKS: readonly [label: string, places: readonly (readonly ['annotations' | 'metadata', string])[]][] = [
  [
    'Runbook',
    [
      ['annotations', 'runbook_url'],
      ['annotations', 'runbook'],
    ],
  ],
  [
    'Dashboard',
    [
      ['annotations', 'dashboard_url'],
      ['annotations', 'dashboard'],
      ['metadata', 'dashboard_url'],
    ],
  ],
  [
    'Panel',
    [
      ['annotations', 'panel_url'],
      ['metadata', 'panel_url'],
    ],
  ],
  ['Query', [['metadata', 'generator_url']]],
  ['Silence', [['metadata', 'silence_url']]],
  ['Alert source', [['metadata', 'external_url']]],
];

type Texts = Record<string, unknown>;

const textsIn = (value: unknown): Texts =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Texts) : {};

/** An address that a browser may follow; an alert can hold anything. */
function webAddress(value: unknown): URL | null {
  if (typeof value !== 'string' || !URL.canParse(value)) return null;
  const url = new URL(value);
  return url.protocol === 'https:' || url.protocol === 'http:' ? url : null;
}

function linksIn(context: Texts) {
  return LINKS.flatMap(([label, places]) => {
    const found = places.map(([part, name]) => webAddress(textsIn(context[part])[name])).find((url) => url !== null);
    return found === undefined ? [] : [{ label, href: found.href, host: shorten(found.host, 60) }];
  });
}

/** Null where the list could not be asked for exactly this label. */
function filterHref(name: string, value: string): string | null {
  const label = `${name}:${value}`;
  const isExact = !/[:=]/.test(name) && label.trim() === label && label.length <= MAX_FILTER;
  return isExact ? paths.runs({ label }) : null;
}

const chip = ([name, value]: [string, unknown]) => ({
  name: shorten(name, MAX_LENGTH),
  value: shorten(String(value), MAX_LENGTH),
  title: `${name}: ${String(value).slice(0, MAX_FILTER)}`,
  href: filterHref(name, String(value)),
});

/** `alertname` says most. */
const byWeight = ([a]: [string, unknown], [b]: [string, unknown]): number =>
  Number(b === 'alertname') - Number(a === 'alertname');

/** The labels and links of the alert that started the run; null where it had none. */
export function alertView({ context }: Pick<RunDetail, 'context'>) {
  const labels = Object.entries(textsIn(context['labels'])).toSorted(byWeight);
  const links = linksIn(context);
  if (labels.length === 0 && links.length === 0) return null;
  return {
    labels: labels.slice(0, MAX_LABELS).map(chip),
    more: labels.length > MAX_LABELS ? `${labels.length - MAX_LABELS} more below` : null,
    links,
  };
}
