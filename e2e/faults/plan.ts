/** Every name once, in one round: first what is reached at a start only, such as the fire of a schedule. */
export function shortPlan(trace: readonly string[]): string[] {
  return [...new Set(trace.map((point) => point.replace(/:\d+$/, '')))];
}

/** One round for every `stride`-th point that was reached. */
export function fullPlan(trace: readonly string[], stride: number): string[][] {
  return trace.filter((_, index) => index % stride === 0).map((point) => [point]);
}

/** Works on `rounds` with some at a time; the result of each round goes to `done` at once. */
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
