/**
 * The way to an answer that is asked for again, on a new connection, while it is awaited: who asks last gets it. Who asked before
 * hears `instead`, so that one waits at a time.
 */
export function forLastAsker<Answer>(answer: Promise<Answer>, instead: Answer): () => Promise<Answer> {
  let last: PromiseWithResolvers<Answer> | null = null;
  let isAwaited = true;
  const settle = (by: (asker: PromiseWithResolvers<Answer>) => void) => {
    isAwaited = false;
    if (last) by(last);
  };
  answer.then(
    (said) => settle(({ resolve }) => resolve(said)),
    (error: unknown) => settle(({ reject }) => reject(error)),
  );
  return () => {
    if (!isAwaited) return answer;
    last?.resolve(instead);
    last = Promise.withResolvers<Answer>();
    return last.promise;
  };
}
