/** Progress lines with durations. */
export async function step<T>(what: string, work: () => Promise<T>): Promise<T> {
  const started = performance.now();
  const seconds = () => `${((performance.now() - started) / 1000).toFixed(1)} s`;
  console.log(`  … ${what}`);
  try {
    const result = await work();
    console.log(`  ✓ ${what}  ${seconds()}`);
    return result;
  } catch (error) {
    console.log(`  ✗ ${what}  ${seconds()}`);
    throw error;
  }
}

export function heading(text: string): void {
  console.log(`\n${text}`);
}

/** An assertion; the message has what was found instead. */
export function ensure(holds: boolean, message: string): asserts holds {
  if (!holds) throw new Error(message);
}
