import { getHeapStatistics } from 'node:v8';
import { acceptedSize, byAge, type CustomObject, sizeOf, withoutAccepted, withoutSpec } from './custom-object.ts';

const MIB = 1024 * 1024;
/** Of the objects of one kind, as they are counted, in a process with the memory that the chart gives it. */
const ROOM_OF_NAMESPACE = 8 * MIB;
const ROOM_OF_RELEASE = 24 * MIB;
/** Of all namespaces but the release's. */
const ROOM_OF_OTHERS = 16 * MIB;

export const CROWDED =
  'has no room: objects of this kind that are older, or were accepted before, fill what its namespace may hold in the memory of the controller; make them smaller, or delete some';

/** How many times the usual room a process has whose heap is usually of so many MiB. */
export const roomTimes = (usualHeap: number): number =>
  Math.max(1, Math.floor(getHeapStatistics().heap_size_limit / (usualHeap * MIB)));

/** Namespace -> what its objects hold. */
export type Sizes = ReadonlyMap<string, number>;

export function sizesOf(objects: readonly CustomObject[]): Map<string, number> {
  const sizes = new Map<string, number>();
  for (const object of objects) sizes.set(object.namespace, (sizes.get(object.namespace) ?? 0) + sizeOf(object));
  return sizes;
}

export interface RoomOptions {
  /** The namespace of the release. */
  home: string | null;
  /** See `roomTimes`. */
  times: number;
  /** What objects of the same kind hold that are known apart from these. */
  elsewhere: Sizes;
}

/**
 * Objects of one kind, without specs of a namespace that has more than its room. What works goes on working: what was accepted last
 * of any object comes before all specs, then the specs of these objects before those of others, each from the oldest on. Every process
 * gets the same of the same objects, and no object that comes later gives room to one that was left out.
 */
export function withinRoom(objects: readonly CustomObject[], { home, times, elsewhere }: RoomOptions): CustomObject[] {
  const sizes = sizesOf(objects);
  const others = [...new Map([...elsewhere, ...sizes])].filter(([namespace]) => namespace !== home);
  const share = times * shareOf(others.map(([, size]) => size / times));
  const crowded = new Set<CustomObject>();
  const bare = new Set<CustomObject>();
  for (const [namespace, size] of sizes) {
    const room = namespace === home ? times * ROOM_OF_RELEASE : share;
    if (size <= room) continue;
    const own = objects.filter((object) => object.namespace === namespace).toSorted(byAge);
    const accepted = own.filter((object) => acceptedSize(object) > 0);
    const others = own.filter((object) => acceptedSize(object) === 0);
    const bodies = accepted.reduce((sum, object) => sum + acceptedSize(object), 0);
    for (const object of beyond(accepted, room, acceptedSize)) bare.add(object);
    for (const object of beyond([...accepted, ...others], room - bodies, sizeOfSpec)) crowded.add(object);
  }
  return objects.map((object) => {
    if (bare.has(object)) return withoutAccepted(withoutSpec(object));
    return crowded.has(object) ? withoutSpec(object) : object;
  });
}

const sizeOfSpec = (object: CustomObject): number => sizeOf(object) - acceptedSize(object);

/** What each namespace may hold so that all have room together: one that holds less loses nothing. */
function shareOf(sizes: readonly number[]): number {
  let left = ROOM_OF_OTHERS;
  for (const [before, size] of sizes.toSorted((a, b) => a - b).entries()) {
    const share = Math.min(ROOM_OF_NAMESPACE, left / (sizes.length - before));
    if (size > share) return share;
    left -= size;
  }
  return ROOM_OF_NAMESPACE;
}

/** The first one that does not fit, and all that come after it. */
function beyond(objects: readonly CustomObject[], room: number, size: (of: CustomObject) => number): CustomObject[] {
  let held = 0;
  const first = objects.findIndex((object) => (held += size(object)) > room);
  return first === -1 ? [] : objects.slice(first);
}
