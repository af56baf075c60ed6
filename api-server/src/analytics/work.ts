import { costOf, sumOf, tokensOf } from './money.ts';
import type { StepSum } from './sums.ts';
import { tidy } from './tidy.ts';

/** What the executions of each agent or model used, the busiest first; those without one are in none. */
export function workBy(key: 'agent' | 'model', steps: readonly StepSum[], currency: string) {
  const groups = Map.groupBy(steps, (step) => step[key]);
  return [...groups]
    .flatMap(([name, own]) =>
      name === null
        ? []
        : [
            tidy({
              name,
              executions: sumOf(own, ({ executions }) => executions),
              tokens: tokensOf(own),
              cost: costOf(own, currency),
            }),
          ],
    )
    .toSorted((a, b) => b.executions - a.executions || (a.name < b.name ? -1 : 1));
}
export type Work = ReturnType<typeof workBy>[number];
