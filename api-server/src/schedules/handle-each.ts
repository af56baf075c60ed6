import { createRest } from '@signalbox/crds/process/rest';

/** Handles each of several, with other work in between, also where one cannot be handled; answers what went wrong, with whom. */
export async function handleEach<T>(
  all: readonly T[],
  job: (one: T) => Promise<void>,
): Promise<{ one: T; error: unknown }[]> {
  const failed: { one: T; error: unknown }[] = [];
  const rest = createRest();
  for (const one of all) {
    await rest();
    try {
      await job(one);
    } catch (error) {
      failed.push({ one, error });
    }
  }
  return failed;
}
