import type { Budget, Concurrency, Pipeline } from '@signalbox/crds';
import { count, money } from '../format.ts';
import { cronWords } from '../schedules/cron-words.ts';

/** The schedule in words; '' without one. */
export const scheduleLine = ({ schedule }: Pick<Pipeline, 'schedule'>): string =>
  schedule === undefined ? '' : cronWords(schedule.cron);

const ON_LIMIT: Record<Concurrency['on_limit'], string> = {
  queue: 'further ones wait',
  reject: 'further ones are refused',
  cancel_running: 'a new one cancels the oldest',
};

/** How many runs at a time. */
export function concurrencyFact(concurrency: Concurrency | undefined) {
  if (concurrency === undefined) return { value: 'no limit of its own', title: '' };
  const { limit, key, on_limit: rule } = concurrency;
  return { value: `${limit}${key === undefined ? '' : ` for each ${key}`}`, title: ON_LIMIT[rule] };
}

/** What one run may spend. */
export function budgetText({ max_tokens: tokens, max_cost: cost }: Partial<Budget> = {}, currency: string): string {
  const parts = [
    tokens === undefined ? null : `${count(tokens)} tokens`,
    cost === undefined ? null : money(cost, currency),
  ].filter((part) => part !== null);
  return parts.length === 0 ? 'no limit' : parts.join(', ');
}
