import type { StatisticsQuery } from '../../../service/statistics/statistics.ts';
import { StatisticsParams, TIME_RANGES, type TimeRange } from '../../../service/statistics/statistics-query.ts';
import { paths } from '../paths.ts';

const STAGE_ORDER = ['production', 'testing', 'all'] as const;

const RANGE_WORDS: Record<TimeRange, string> = { '24h': '24 hours', '7d': '7 days', '30d': '30 days', all: 'All' };
const STAGE_WORDS = { production: 'Production', testing: 'Testing', all: 'Both' } as const;

/** The query, with the parameters of the JSON routes; invalid values become the default. */
export function readQuery(query: Record<string, unknown>): StatisticsQuery {
  return {
    timeRange: TIME_RANGES.find((range) => range === query['time_range']) ?? '7d',
    stage: STAGE_ORDER.find((stage) => stage === query['stage']) ?? 'production',
    ...namesOf(query),
  };
}

/** Entries of the address that the query has as they were given. */
export const understood = (given: object, { timeRange, ...rest }: StatisticsQuery): object =>
  Object.fromEntries(
    Object.entries({ time_range: timeRange, ...rest }).filter(
      ([key, value]) => String((given as Record<string, unknown>)[key]).trim() === value,
    ),
  );

const NAMES = ['pipeline', 'team', 'agent', 'model'] as const;
type Names = Partial<Record<(typeof NAMES)[number], string>>;

/** What narrows the figures; a name that the JSON routes would refuse is ignored. */
function namesOf(query: Record<string, unknown>): Names {
  const given = NAMES.flatMap((name) => {
    const text = typeof query[name] === 'string' ? query[name].trim() : '';
    return text !== '' && StatisticsParams.safeParse({ [name]: text }).success ? [[name, text]] : [];
  });
  return Object.fromEntries(given) as Names;
}

/** The fields of the form, and the chips that take a name away. */
export const narrowing = (query: StatisticsQuery) => ({
  action: paths.insights(),
  kept: { timeRange: query.timeRange, stage: query.stage },
  fields: NAMES.map((name) => ({ name, value: query[name] ?? '', label: `${name[0]?.toUpperCase()}${name.slice(1)}` })),
  chips: NAMES.filter((name) => query[name] !== undefined).map((name) => ({
    label: `${name}: ${query[name]}`,
    href: insightsPath({ ...query, [name]: undefined }),
  })),
});

export const insightsPath = ({ timeRange, ...rest }: StatisticsQuery): string =>
  paths.insights({ time_range: timeRange, ...rest });

/** Links that change the time range or the stage. */
export const choices = (query: StatisticsQuery) => [
  {
    label: 'Time range',
    options: TIME_RANGES.map((timeRange) => ({
      label: RANGE_WORDS[timeRange],
      href: insightsPath({ ...query, timeRange }),
      current: timeRange === query.timeRange,
    })),
  },
  {
    label: 'Stage',
    options: STAGE_ORDER.map((stage) => ({
      label: STAGE_WORDS[stage],
      href: insightsPath({ ...query, stage }),
      current: stage === query.stage,
    })),
  },
];

/** `in the last 7 days`, or nothing where all is shown. */
export const rangeText = ({ timeRange }: StatisticsQuery): string =>
  timeRange === 'all' ? 'so far' : `in the last ${RANGE_WORDS[timeRange]}`;

/** The previous window in words. */
export const beforeText = ({ timeRange }: StatisticsQuery): string => `in the ${RANGE_WORDS[timeRange]} before`;
