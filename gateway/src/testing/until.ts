/** Waits until `read` returns something that is neither undefined, null nor false. */
export async function until<Value>(read: () => Value | Promise<Value>, withinMs = 50_000): Promise<NonNullable<Value>> {
  const deadline = performance.now() + withinMs;
  for (;;) {
    const value = await read();
    if (value !== undefined && value !== null && value !== false) return value;
    if (performance.now() > deadline)
      throw new Error(`still waiting after ${withinMs} ms for: ${read.toString().slice(0, 200)}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
