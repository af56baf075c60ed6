/** Handles each of several, also where one cannot be handled; answers what went wrong, with whom. */
export async function handleEach<T>(
  all: readonly T[],
  job: (one: T) => Promise<void>,
): Promise<{ one: T; error: unknown }[]> {
  const failed: { one: T; error: unknown }[] = [];
  for (const one of all) {
    try {
      await job(one);
    } catch (error) {
      failed.push({ one, error });
    }
  }
  return failed;
}
