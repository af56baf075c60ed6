import { Condition } from '@signalbox/crds';
import { z } from 'zod';
import { inMemory, isSoundStatus } from './definition-size.ts';
import { packedIn } from './packed-body.ts';

const Replica = z.looseObject({ pod: z.string(), hash: z.string().nullable().default(null) });
export type Replica = z.infer<typeof Replica>;

const ObjectStatus = z.looseObject({
  observedGeneration: z.number().optional(),
  contentHash: z.string().optional(),
  lastAccepted: z.record(z.string(), z.unknown()).transform(packedIn).optional(),
  conditions: z.array(Condition).default([]),
  replicas: z.array(Replica).default([]),
});
export type ObjectStatus = z.infer<typeof ObjectStatus>;

/** As JSON, without what was accepted last: more than we write, also of an agent with many tools. */
const MAX_CHARS = 256 * 1024;
/** A status of so many bytes counts as a part of its object. */
const USUAL_BYTES = 4096;
/** More than we write of an object without room. */
const MAX_CROWDED_BYTES = 16 * 1024;

const none = (): ObjectStatus => ({ conditions: [], replicas: [] });

/** Whoever may write a status writes what they like: one that is invalid, or larger than ours, counts as none. */
export function statusIn(written: unknown): ObjectStatus {
  const { data } = ObjectStatus.safeParse(isSoundStatus(written) ? (written ?? {}) : {});
  return data && textOf(data).length <= MAX_CHARS ? data : none();
}

const textOf = ({ lastAccepted: _, ...rest }: ObjectStatus): string => JSON.stringify(rest);

const sizes = new WeakMap<ObjectStatus, number>();

/** What it takes in memory without what was accepted last. */
function bytesOf(status: ObjectStatus): number {
  const bytes = sizes.get(status) ?? inMemory(textOf(status));
  sizes.set(status, bytes);
  return bytes;
}

/** What a large status takes in memory beyond a usual one, without what was accepted last. */
export const beyondUsual = (status: ObjectStatus): number => Math.max(0, bytesOf(status) - USUAL_BYTES);

/** Longer than any version of an agent. */
const MAX_VERSION = 128;

/** Of a large one only what was accepted last, under which version, and what the readiness gate said of it. */
export function smallStatus(status: ObjectStatus): ObjectStatus {
  const { discoveredTools: _, ...small } = status;
  for (const one of [status, small]) if (bytesOf(one) <= MAX_CROWDED_BYTES) return one;
  const { lastAccepted, agentVersion, stage, promoted } = status;
  return {
    ...none(),
    ...(lastAccepted && { lastAccepted }),
    ...(typeof agentVersion === 'string' && agentVersion.length <= MAX_VERSION && { agentVersion }),
    ...(promoted === true && { promoted }),
    ...((stage === 'testing' || stage === 'production') && { stage }),
  };
}
