import { z } from 'zod';

const Kind = z.enum(['Pipeline', 'LibraryStep', 'Agent']);

/** Reference to a custom resource in an answer (409 `managed`). */
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

const ReportedObject = ObjectReference.extend({
  conditions: z.array(Condition).default([]),
  replicas: z.array(z.looseObject({ pod: z.string(), hash: z.string().nullable() })).default([]),
});

/** `manifest.json` beside the synced files: the object of each file, the conditions of the objects, the addresses of the agents. */
export const SyncManifest = z.looseObject({
  namespace: z.string().optional().describe('of the account that wrote it: the namespace of the release'),
  files: z
    .record(
      z.string(),
      ObjectReference.extend({
        uid: z.string(),
        generation: z.number().int(),
        hash: z.string(),
        digest: z.string().optional().describe('of the text that was written, and of which body it was made'),
      }),
    )
    .describe('path below the directory -> the object it was written from'),
  objects: z.array(ReportedObject),
  agents: z.record(z.string(), z.string()).describe('definition name -> address of its Service'),
});
export type SyncManifest = z.infer<typeof SyncManifest>;

/** An object and its written definition; `definition` and `hash` are null where nothing was written. */
export const SyncedObject = ReportedObject.extend({
  definition: z.string().nullable().describe('name that the services know it by'),
  hash: z.string().nullable().describe('of the definition that was written'),
});
export type SyncedObject = z.infer<typeof SyncedObject>;

/** The objects of a manifest, each with its definition; those of an agent's two files are one. */
export function syncedObjects({ files, objects }: SyncManifest): SyncedObject[] {
  const keyOf = ({ kind, namespace, name }: ObjectReference) => `${kind} ${namespace} ${name}`;
  const written = new Map(Object.entries(files).map(([path, file]) => [keyOf(file), { path, hash: file.hash }]));
  return objects.map((object) => {
    const file = written.get(keyOf(object));
    return { ...object, definition: file ? definitionOf(file.path) : null, hash: file?.hash ?? null };
  });
}

/** `pipelines/NAME.yaml`, `steps/NAME.yaml`, `agents/NAME/soul.md`. */
const definitionOf = (path: string): string | null => path.split('/')[1]?.replace(/\.yaml$/, '') ?? null;
