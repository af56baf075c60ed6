/** Work that nobody waits for, but who stops. */
export function createBeside(failed: (error: unknown) => void) {
  const going = new Set<Promise<void>>();
  return {
    begin: (work: Promise<void>): void => {
      const done = work.catch(failed).finally(() => going.delete(done));
      going.add(done);
    },
    ended: async (): Promise<void> => void (await Promise.all(going)),
  };
}
