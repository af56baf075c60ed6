import { AppError } from '@signalbox/crds';
import type { PipelineStatistics } from '../../../service/views/analytics/statistics.ts';
import type { StatisticsQuery } from '../../../service/statistics/statistics.ts';
import type { ModelStatistics, StepStatistics } from '../../../service/views/analytics/statistics.ts';
import { count, duration, money, percent } from '../format.ts';
import { accuracyOf, amount, cost, labelsText, unpricedNote } from './figures.ts';
import { insightsPath, rangeText } from './filters.ts';

/** The query of the summary on pages of pipelines and steps. */
export const SUMMARY: StatisticsQuery = { timeRange: '30d', stage: 'all' };

/** Null while statistics take too long: the page is then shown without them. */
export const unlessBusy = <T>(statistics: Promise<T>): Promise<T | null> =>
  statistics.catch((error: unknown) => {
    if (error instanceof AppError && error.type === 'unavailable') return null;
    throw error;
  });

const BUSY = 'The statistics take too long at the moment. Load the page again in a while.';

/** Figures of a pipeline or step; `none` says that nothing ran, or why there are no figures. */
export function summaryOf(stats: PipelineStatistics | StepStatistics | null, noun: 'runs' | 'executions') {
  const head = { title: 'Last 30 days, both stages', more: insightsPath(SUMMARY) };
  if (stats === null) return { ...head, none: BUSY, facts: [] };
  if (stats.runs_total === 0) return { ...head, none: `No ${noun} ${rangeText(SUMMARY)}.`, facts: [] };
  return {
    ...head,
    none: null,
    facts: [
      { label: noun === 'runs' ? 'Runs' : 'Executions', value: count(stats.runs_total), title: countsText(stats) },
      { label: 'Success', value: percent(stats.success_rate), title: 'Completed, of what ended and was not cancelled' },
      ...durationFacts(stats),
      { label: 'Tokens', value: amount(stats.tokens.total), title: tokensText(stats) },
      { label: 'Cost', value: cost(stats), title: unpricedNote(stats) ?? '' },
      ...(noun === 'runs' ? [eachFact(stats)] : []),
      {
        label: `Accuracy of ${noun}`,
        value: percent(accuracyOf(stats)),
        title: labelsText(stats),
      },
    ],
  };
}

/** Of runs the machine time, and how long they waited for people where one did. */
function durationFacts({ duration_seconds: took }: PipelineStatistics | StepStatistics) {
  const title = `${duration(took.avg)} on average`;
  if (!('machine_p95' in took)) return [{ label: 'Duration, p95', value: duration(took.p95), title }];
  const machine = { label: 'Machine time, p95', value: duration(took.machine_p95) };
  if (took.waiting_p95 === null) return [{ ...machine, title }];
  const whole = `Of runs that waited. With waiting: p95 ${duration(took.p95)}, ${title}`;
  return [
    { ...machine, title: 'Without the time in which a run waited for people' },
    { label: 'Waiting for people, p95', value: duration(took.waiting_p95), title: whole },
  ];
}

/** What a run costs on average; its tokens where nothing has a price. */
function eachFact(stats: PipelineStatistics | StepStatistics) {
  const { cost: spent, tokens, runs_total: runs } = stats;
  const title = 'On average, over all runs of the time range';
  return spent.total === null
    ? { label: 'Tokens of a run', value: amount(tokens.total / runs), title }
    : { label: 'Cost of a run', value: money(spent.total / runs, spent.currency), title };
}

const countsText = ({ status_counts: counts }: PipelineStatistics | StepStatistics): string =>
  Object.entries(counts)
    .map(([status, n]) => `${count(n)} ${status}`)
    .join(', ');

const tokensText = ({ tokens }: PipelineStatistics | StepStatistics): string =>
  `${amount(tokens.input)} input, ${amount(tokens.output)} output`;

/** The step model breakdown as a table; null while the statistics take too long. */
export const modelRows = (breakdown: readonly ModelStatistics[] | null) =>
  (breakdown ?? []).map((row) => ({
    who: row.model ?? 'no model',
    note: [row.agent, row.provider].filter((name) => name !== null).join(' · '),
    runs: count(row.runs_total),
    success: percent(row.success_rate),
    duration: duration(row.avg_duration_seconds),
    tokens: row.avg_input_tokens === null ? '–' : tokensEach(row),
    accuracy: percent(accuracyOf(row)),
    labelled: labelsText(row),
  }));

const tokensEach = ({ avg_input_tokens: input, avg_output_tokens: output }: ModelStatistics): string =>
  `${amount(input ?? 0)} / ${amount(output ?? 0)}`;
