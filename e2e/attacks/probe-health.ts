const EVERY_MS = 100;
/** The longest that `/health` may take during an attack. */
export const MAX_HEALTH_MS = 2000;

export interface HealthProbe {
  /** Milliseconds of the slowest answer so far, of one that is still awaited too. */
  slowest(): number;
  stop(): void;
}

/** Asks for `/health` every 100 ms, whether or not the answer before has come. */
export function probeHealth(url: string): HealthProbe {
  const open = new Map<symbol, number>();
  let slowest = 0;
  const probe = async () => {
    const id = Symbol('probe');
    open.set(id, performance.now());
    try {
      const answer = await fetch(`${url}/health`);
      if (!answer.ok) slowest = Infinity;
      await answer.text();
    } catch {
      slowest = Infinity;
    }
    slowest = Math.max(slowest, performance.now() - (open.get(id) ?? 0));
    open.delete(id);
  };
  const timer = setInterval(() => void probe(), EVERY_MS);
  return {
    slowest: () => Math.max(slowest, ...[...open.values()].map((since) => performance.now() - since)),
    stop: () => clearInterval(timer),
  };
}
