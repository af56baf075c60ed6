/** Work of one run at a time: many of its questions may be closed together, and each has long messages to read. */
export function createRunTurns() {
  const last = new Map<string, Promise<unknown>>();
  return async <T>(runId: string, work: () => Promise<T>): Promise<T> => {
    const mine = (last.get(runId) ?? Promise.resolve()).then(work, work);
    last.set(runId, mine);
    try {
      return await mine;
    } finally {
      if (last.get(runId) === mine) last.delete(runId);
    }
  };
}

export type RunTurns = ReturnType<typeof createRunTurns>;
