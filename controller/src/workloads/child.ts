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
  /** The controlling owner, or null. */
  readonly owner: { kind: string; name: string; uid: string } | null;
  /** Hash of what was applied last. */
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

const Condition = z.object({
  type: z.string(),
  status: z.string(),
  reason: z.string().default(''),
  message: z.string().default(''),
});

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
  const owner = metadata.ownerReferences.find(({ controller }) => controller);
  return {
    kind,
    namespace: metadata.namespace,
    name: metadata.name,
    uid: metadata.uid,
    resourceVersion: metadata.resourceVersion,
    // Services have no generation, and no status that changes.
    edition: metadata.generation === undefined ? metadata.resourceVersion : String(metadata.generation),
    owner: owner ? { kind: owner.kind, name: owner.name, uid: owner.uid } : null,
    applied: metadata.annotations[APPLIED] ?? null,
    rollout: kind === 'Deployment' ? rolloutOf(parsed.data) : null,
  };
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
