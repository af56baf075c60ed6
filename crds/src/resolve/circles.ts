/** One whose calls are followed: its place in the order of that, and the first place that it reaches. */
interface Visit {
  name: string;
  place: number;
  first: number;
  left: Iterator<string>;
}

/**
 * Pipelines that call each other, directly or through others, have the same circle; each other one has a circle of its own. Each
 * call is followed once (Tarjan's strongly connected components). Only those in `calls` are looked at.
 */
export function circlesOf(calls: ReadonlyMap<string, readonly string[]>): Map<string, string> {
  const circles = new Map<string, string>();
  const places = new Map<string, number>();
  const open: string[] = [];
  const path: Visit[] = [];

  const enter = (name: string) => {
    const called = calls.get(name);
    if (!called) return;
    path.push({ name, place: places.size, first: places.size, left: called.values() });
    places.set(name, places.size);
    open.push(name);
  };
  const leave = ({ name, place, first }: Visit) => {
    path.pop();
    const caller = path.at(-1);
    if (caller) caller.first = Math.min(caller.first, first);
    if (first === place) for (const one of open.splice(open.lastIndexOf(name))) circles.set(one, name);
  };
  const follow = (at: Visit, to: string) => {
    const place = places.get(to);
    if (place === undefined) enter(to);
    else if (!circles.has(to)) at.first = Math.min(at.first, place);
  };

  for (const name of calls.keys()) {
    if (!places.has(name)) enter(name);
    for (let at = path.at(-1); at; at = path.at(-1)) {
      const { done, value } = at.left.next();
      if (done) leave(at);
      else follow(at, value);
    }
  }
  return circles;
}
