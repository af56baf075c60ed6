/** Does what nobody waits for, such as the work of a timer: what it throws is told of and does not end the service. */
export function guarded(work: () => void, onBug: (error: unknown) => void): void {
  try {
    work();
  } catch (error) {
    onBug(error);
  }
}
