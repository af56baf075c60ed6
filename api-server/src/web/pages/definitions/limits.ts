import { count, money } from '../format.ts';
import { cronWords } from '../schedules/cron-words.ts';
import { type Config, object, text } from './config.ts';

/** When it runs by the clock, in words; '' for never. */
export function scheduleLine(config: Config): string {
  const schedule = object(config['schedule']);
  const cron = text(schedule['cron']);
  return cron === '' ? '' : cronWords(cron);
}

const ON_LIMIT: Record<string, string> = {
  queue: 'further ones wait',
  reject: 'further ones are refused',
  cancel_running: 'a new one cancels the oldest',
};

/** How many runs at a time. */
export function concurrencyFact({ limit, key, on_limit: rule }: Config) {
  if (limit === undefined) return { value: 'no limit of its own', title: '' };
  const of = text(key) === '' ? '' : ` for each ${text(key)}`;
  return { value: `${text(limit)}${of}`, title: ON_LIMIT[text(rule)] ?? '' };
}

/** What one run may spend. */
export function budgetText({ max_tokens: tokens, max_cost: cost }: Config, currency: string): string {
  const parts = [
    typeof tokens === 'number' ? `${count(tokens)} tokens` : null,
    typeof cost === 'number' ? money(cost, currency) : null,
  ].filter((part) => part !== null);
  return parts.length === 0 ? 'no limit' : parts.join(', ');
}
