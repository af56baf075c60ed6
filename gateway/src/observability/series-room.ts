/** Characters of the text of series that names make: of all, of agents with a namespace, and of those of one namespace. */
const MOST = { all: 4 * 2 ** 20, ofNamespaces: 3 * 2 ** 20, ofNamespace: 2 ** 20 };
export type MostText = typeof MOST;

/** About what a line has beside its names. */
const LINE_CHARS = 80;

/** Names of one series that has `lines` in a scrape. */
interface Named {
  names: readonly string[];
  lines: number;
}

/** Whether there is room for series with these names. `namespace`: whose the agent is; null for the operator's. */
export type AdmitSeries = (named: Named, namespace: string | null) => boolean;

/** Series are kept until the process ends, and all are written in one turn of the event loop. */
export function createSeriesRoom(most: MostText = MOST): AdmitSeries {
  const seen = new Set<string>();
  const of = new Map<string, number>();
  let all = 0;
  let ofNamespaces = 0;
  const hasRoom = (chars: number, namespace: string | null) =>
    all + chars <= most.all &&
    (namespace === null ||
      (ofNamespaces + chars <= most.ofNamespaces && (of.get(namespace) ?? 0) + chars <= most.ofNamespace));
  return ({ names, lines }, namespace) => {
    const key = JSON.stringify(names);
    if (seen.has(key)) return true;
    const chars = lines * (LINE_CHARS + key.length);
    if (!hasRoom(chars, namespace)) return false;
    all += chars;
    if (namespace !== null) {
      ofNamespaces += chars;
      of.set(namespace, (of.get(namespace) ?? 0) + chars);
    }
    seen.add(key);
    return true;
  };
}
