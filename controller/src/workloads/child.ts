import { cutShort } from '@signalbox/crds';
import { z } from 'zod';
import { APPLIED, type ChildKind } from '../objects/child-object.ts';

/** An object of an agent in the API server: the parts that decisions need. */
export interface Child {
  readonly kind: ChildKind;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  /** Changes with the spec; unlike the version, not with the status. */
  readonly edition: string;
  /** The controlling owner; null where there is none, or none that can be an object of ours. */
  readonly owner: { kind: string; name: string; uid: string } | null;
  /** Hash of what was applied last; null where it is none of ours. */
  readonly applied: string | null;
  readonly rollout: Rollout | null;
}

/** The progress of a Deployment. */
export interface Rollout {
  /** Its controller has seen the present generation. */
  current: boolean;
  desired: number;
  /** Pods that there are, of earlier editions too. */
  pods: number;
  ready: number;
  available: RolloutCondition | null;
  progressing: RolloutCondition | null;
}
export type RolloutCondition = z.infer<typeof Condition>;

/** Others than we write these texts, and each object is in memory as long as it is there. */
const MAX_APPLIED = 64;
const MAX_OWNER = 253;
const MAX_CONDITION = 400;

const Said = z.string().transform((text) => cutShort(text, MAX_CONDITION));
const Condition = z.object({ type: Said, status: Said, reason: Said.default(''), message: Said.default('') });

const NO_STATUS = { observedGeneration: 0, replicas: 0, availableReplicas: 0, conditions: [] };

const Written = z.object({
  metadata: z.object({
    name: z.string(),
    namespace: z.string(),
    uid: z.string(),
    resourceVersion: z.string(),
    generation: z.number().optional(),
    annotations: z.record(z.string(), z.string()).default({}),
    ownerReferences: z
      .array(z.object({ kind: z.string(), name: z.string(), uid: z.string(), controller: z.boolean().default(false) }))
      .default([]),
  }),
  spec: z.looseObject({ replicas: z.number().optional() }).nullish(),
  status: z
    .looseObject({
      observedGeneration: z.number().default(0),
      replicas: z.number().default(0),
      availableReplicas: z.number().default(0),
      conditions: z.array(Condition).default([]),
    })
    .catch(NO_STATUS)
    .default(NO_STATUS),
});

/** Reads what the API server sent; null where it is not one. */
export function toChild(kind: ChildKind, value: unknown): Child | null {
  const parsed = Written.safeParse(value);
  if (!parsed.success) return null;
  const { metadata } = parsed.data;
  const applied = metadata.annotations[APPLIED] ?? null;
  return {
    kind,
    namespace: metadata.namespace,
    name: metadata.name,
    uid: metadata.uid,
    resourceVersion: metadata.resourceVersion,
    // Services have no generation, and no status that changes.
    edition: metadata.generation === undefined ? metadata.resourceVersion : String(metadata.generation),
    owner: ownerOf(metadata.ownerReferences),
    applied: applied !== null && applied.length <= MAX_APPLIED ? applied : null,
    rollout: kind === 'Deployment' ? rolloutOf(parsed.data) : null,
  };
}

function ownerOf(references: z.infer<typeof Written>['metadata']['ownerReferences']): Child['owner'] {
  const owner = references.find(({ controller }) => controller);
  if (!owner || [owner.kind, owner.name, owner.uid].some(({ length }) => length > MAX_OWNER)) return null;
  return { kind: owner.kind, name: owner.name, uid: owner.uid };
}

function rolloutOf({ metadata, spec, status }: z.infer<typeof Written>): Rollout {
  const condition = (type: string) => status.conditions.find((one) => one.type === type) ?? null;
  return {
    current: status.observedGeneration >= (metadata.generation ?? 0),
    desired: spec?.replicas ?? 1,
    pods: status.replicas,
    ready: status.availableReplicas,
    available: condition('Available'),
    progressing: condition('Progressing'),
  };
}
