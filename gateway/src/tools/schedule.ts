/** Runs `action` later, without keeping the process for it; returns what takes it back. */
export function schedule(action: () => void, ms: number): () => void {
  const timer = setTimeout(action, ms);
  timer.unref();
  return () => clearTimeout(timer);
}
