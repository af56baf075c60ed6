import { getHeapStatistics } from 'node:v8';
import { byAge, type CustomObject, sizeOf, withoutSpec } from './custom-object.ts';

const MIB = 1024 * 1024;
/** Of the objects of one kind, as they are counted, in a process with the memory that the chart gives it. */
const ROOM_OF_NAMESPACE = 8 * MIB;
const ROOM_OF_RELEASE = 24 * MIB;
/** Of all namespaces but the release's. */
const ROOM_OF_OTHERS = 16 * MIB;

export const CROWDED =
  'has no room: older objects of this kind fill what its namespace may hold in the memory of the controller; make them smaller, or delete some';

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
 * Objects of one kind, without the specs of the newest ones of a namespace that has more than its room: what works goes on working. Every
 * process gets the same of the same objects, and no object that comes later gives room to one that was left out.
 */
export function withinRoom(objects: readonly CustomObject[], { home, times, elsewhere }: RoomOptions): CustomObject[] {
  const sizes = sizesOf(objects);
  const others = [...new Map([...elsewhere, ...sizes])].filter(([namespace]) => namespace !== home);
  const share = times * shareOf(others.map(([, size]) => size / times));
  const crowded = new Set<CustomObject>();
  for (const [namespace, size] of sizes) {
    const room = namespace === home ? times * ROOM_OF_RELEASE : share;
    if (size <= room) continue;
    const own = objects.filter((object) => object.namespace === namespace);
    for (const object of beyond(own, room)) crowded.add(object);
  }
  return objects.map((object) => (crowded.has(object) && !object.crowded ? withoutSpec(object) : object));
}

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

/** The oldest one that does not fit, and all that are newer. */
function beyond(objects: readonly CustomObject[], room: number): CustomObject[] {
  const sorted = objects.toSorted(byAge);
  let held = 0;
  const first = sorted.findIndex((object) => (held += sizeOf(object)) > room);
  return first === -1 ? [] : sorted.slice(first);
}
