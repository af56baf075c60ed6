import type { ActiveRun } from '../state/active-run.ts';
import { topOf } from '../state/workers.ts';

const last = new WeakMap<ActiveRun, Promise<void>>();
const ignore = () => undefined;

/**
 * Of a run and its sub-runs one request, context or prompt of a second agent is rendered at a time: hundreds of branches that take turns
 * would each have most of theirs in memory before the first is counted.
 */
export function oneAtATime<T>(run: ActiveRun, render: () => Promise<T>): Promise<T> {
  const top = topOf(run);
  const rendered = Promise.resolve(last.get(top)).then(render);
  last.set(top, rendered.then(ignore, ignore));
  return rendered;
}
