/** Every name once, in one round: first what is reached at a start only, such as the fire of a schedule. */
export function shortPlan(trace: readonly string[]): string[] {
  return [...new Set(trace.map((point) => point.replace(/:\d+$/, '')))];
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
