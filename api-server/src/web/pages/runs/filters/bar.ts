import { exactTime } from '../../format.ts';
import { listQuery, select } from '../../list-filters.ts';
import { paths } from '../../paths.ts';
import { statusLook } from '../../status.ts';
import { FILTER_KEYS } from '../../../../config/views-schema.ts';
import { type FilterKey, type Filters, SPANS } from './filters.ts';

const STATUSES = [
  'running',
  'queued',
  'interrupted',
  'completed',
  'escalated',
  'failed',
  'aborted',
  'failed,aborted',
  'stopped',
  'cancelled',
];

const capital = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1);
const attentionWords = (states: string): string => capital(states.split(',').join(' or '));

/** `Failed or aborted` for several statuses. */
const statusWords = (statuses: string): string => {
  const words = statuses.split(',').map((status) => statusLook(status).word);
  return words.map((word, i) => (i === 0 ? word : word.toLowerCase())).join(' or ');
};

const SPAN_WORDS: Record<string, string> = {
  '1h': 'Last hour',
  '24h': 'Last 24 hours',
  '7d': 'Last 7 days',
  '30d': 'Last 30 days',
};
const replayWords = (value: string): string => (value === 'true' ? 'Only replays' : 'Without replays');
const teamWords = (value: string): string => (value === 'true' ? 'Without a team' : 'With a team');
const warningWords = (value: string): string => (value === 'true' ? 'With warnings' : 'Without warnings');

const ORDER_WORDS: Record<string, string> = {
  '-age': 'Oldest first',
  '-duration': 'Longest first',
  duration: 'Shortest first',
  '-cost': 'Highest cost first',
  cost: 'Lowest cost first',
  trust: 'Lowest trust first',
  '-trust': 'Highest trust first',
};

const INPUTS = [
  { name: 'alert', label: 'Alert name', placeholder: 'HighErrors' },
  { name: 'label', label: 'Label', placeholder: 'service:checkout' },
  { name: 'agent', label: 'Agent', placeholder: '' },
  { name: 'model', label: 'Model', placeholder: '' },
  { name: 'source', label: 'Source', placeholder: 'alert_router' },
  { name: 'team', label: 'Team', placeholder: '' },
] as const;

const FLAGS = ['true', 'false'];
const withOrWithout = (field: ReturnType<typeof select>) => ({ ...field, any: 'With and without' });

/** The fields of the form: the common ones in the bar, the others in a panel that opens. */
export function barView(filters: Filters, pipelines: string[]) {
  const { sort = '' } = filters;
  return {
    selects: [
      select('status', 'Status', { known: STATUSES, chosen: filters.status, words: statusWords }),
      select('attention', 'Attention', {
        known: ['open', 'acknowledged', 'resolved'],
        chosen: filters.attention,
        words: attentionWords,
      }),
      select('severity', 'Severity', { known: ['critical', 'warning', 'info'], chosen: filters.severity }),
    ],
    panel: [
      select('pipeline', 'Pipeline', { known: pipelines, chosen: filters.pipeline }),
      select('stage', 'Stage', { known: ['production', 'testing'], chosen: filters.stage }),
      select('last', 'Time', {
        known: Object.keys(SPANS),
        chosen: filters.last,
        words: (span) => SPAN_WORDS[span] ?? span,
      }),
      withOrWithout(select('teamless', 'Team or none', { known: FLAGS, chosen: filters.teamless, words: teamWords })),
      withOrWithout(select('warnings', 'Warnings', { known: FLAGS, chosen: filters.warnings, words: warningWords })),
      withOrWithout(select('replay', 'Replays', { known: FLAGS, chosen: filters.replay, words: replayWords })),
    ],
    inputs: INPUTS.map((input) => ({ ...input, value: filters[input.name] ?? '' })),
    /** Times come with links. */
    hidden: (['since', 'until'] as const).flatMap((name) => {
      const value = filters[name];
      return value === undefined ? [] : [{ name, value }];
    }),
    orders: [
      { value: '', label: 'Newest first', selected: sort === '' || sort === 'age' },
      ...Object.entries(ORDER_WORDS).map(([value, label]) => ({ value, label, selected: value === sort })),
    ],
    sorted: sort !== '' && sort !== 'age',
    chips: chips(filters),
  };
}

/** What is set, each with a link that removes it. */
const chips = (filters: Filters) =>
  FILTER_KEYS.flatMap((name) => {
    const value = filters[name];
    if (value === undefined) return [];
    const href = paths.runs(listQuery({ ...filters, [name]: undefined, page: 1 }));
    return [{ name, value, label: chipLabel(name, value), href }];
  });

const CHIP_WORDS: Partial<Record<FilterKey, (value: string) => string>> = {
  q: (value) => `“${value}”`,
  status: statusWords,
  attention: (value) => `attention: ${value.split(',').join(' or ')}`,
  teamless: teamWords,
  warnings: warningWords,
  replay: replayWords,
  last: (value) => SPAN_WORDS[value] ?? value,
  since: (value) => `from ${exactTime(value)}`,
  until: (value) => `before ${exactTime(value)}`,
};

const chipLabel = (name: FilterKey, value: string): string => CHIP_WORDS[name]?.(value) ?? `${name}: ${value}`;
