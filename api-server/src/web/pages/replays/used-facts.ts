import type { UsedView } from '../../../service/views/replay.ts';
import { type Fact, moneyIn, numberFact, SECONDS, TOKENS, type Unit } from '../compare/facts.ts';
import { percent } from '../format.ts';

/** An accuracy. */
export const SHARE: Unit = { write: percent, apart: (size) => `${(100 * size).toFixed(1)} points`, better: 'more' };

type Used = ReturnType<typeof UsedView.parse>;

const mean = ({ n }: Used, total: number | null): number | null => (total === null || n === 0 ? null : total / n);

/** What one execution used on average, recorded and candidate. */
export function usedFacts(
  { recorded, candidate }: { recorded: Used; candidate: Used },
  currency: string,
): (Fact | null)[] {
  const each = (label: string, key: 'input_tokens' | 'output_tokens' | 'cost' | 'duration_seconds', unit: Unit) =>
    numberFact(label, [mean(recorded, recorded[key]), mean(candidate, candidate[key])], unit);
  const rounded: Unit = { ...TOKENS, write: (value) => TOKENS.write(Math.round(value)) };
  return [
    each('Input tokens each', 'input_tokens', rounded),
    each('Output tokens each', 'output_tokens', rounded),
    each('Cost each', 'cost', moneyIn(currency)),
    each('Duration each', 'duration_seconds', SECONDS),
  ];
}
