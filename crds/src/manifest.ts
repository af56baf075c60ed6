import { z } from 'zod';

const Kind = z.enum(['Pipeline', 'LibraryStep', 'Agent']);

/** A custom resource, as an answer names it (409 `managed`, Design 5 and 6). */
export const ObjectReference = z.object({ kind: Kind, namespace: z.string(), name: z.string() });
export type ObjectReference = z.infer<typeof ObjectReference>;

export const Condition = z.looseObject({
  type: z.string(),
  status: z.enum(['True', 'False', 'Unknown']),
  reason: z.string().optional(),
  message: z.string().optional(),
  lastTransitionTime: z.string().optional(),
  observedGeneration: z.number().int().optional(),
});
export type Condition = z.infer<typeof Condition>;

/** `manifest.json` beside the synced files: who owns which file, the state of the objects, where the agents answer (Design 7). */
export const SyncManifest = z.looseObject({
  files: z
    .record(z.string(), ObjectReference.extend({ uid: z.string(), generation: z.number().int(), hash: z.string() }))
    .describe('path below the directory -> the object it was written from'),
  objects: z.array(
    ObjectReference.extend({
      conditions: z.array(Condition).default([]),
      replicas: z.array(z.looseObject({ pod: z.string(), hash: z.string().nullable() })).default([]),
    }),
  ),
  agents: z.record(z.string(), z.string()).describe('definition name -> address of its Service'),
});
export type SyncManifest = z.infer<typeof SyncManifest>;
