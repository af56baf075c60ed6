const nameOf = (point: string) => point.replace(/:\d+$/, '');

/**
 * Every name once, `before` and `after` in one round: what the first kill undid is done again after the restart and meets
 * the second. Names without a partner are rounds of their own.
 */
export function shortPlan(trace: readonly string[]): string[][] {
  const stems = new Set(trace.map((point) => nameOf(point).replace(/\.(before|after)$/, '')));
  return [...stems].map((stem) => [`${stem}.before`, `${stem}.after`]);
}

/** Every point that was reached, each in a round of its own, every `stride`-th of them. */
export function fullPlan(trace: readonly string[], stride: number): string[][] {
  return trace.filter((_, index) => index % stride === 0).map((point) => [point]);
}

/** Works on `rounds` with some at a time; a round's result goes to `done` as it comes. */
export async function runAll<T>(
  rounds: readonly T[],
  { atATime, run }: { atATime: number; run: (round: T) => Promise<void> },
): Promise<void> {
  const open = rounds.values();
  const worker = async () => {
    for (const round of open) await run(round);
  };
  await Promise.all(Array.from({ length: atATime }, worker));
}
