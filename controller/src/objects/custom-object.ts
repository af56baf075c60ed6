import { type DefinitionKind, isName } from '@signalbox/crds';
import { z } from 'zod';
import { definitionJson, inMemory } from './definition-size.ts';
import { beyondUsual, type ObjectStatus, smallStatus, statusIn } from './object-status.ts';

export const GROUP = 'signalbox.dev';
export const VERSION = 'v1alpha1';

/** Plural names of the kinds, as paths of the API contain them. */
export const PLURALS: Readonly<Record<DefinitionKind, string>> = {
  Pipeline: 'pipelines',
  LibraryStep: 'librarysteps',
  Agent: 'agents',
};

export const isKind = (value: string): value is DefinitionKind => Object.hasOwn(PLURALS, value);

/** One of our objects. A changed object is another JavaScript object, so caches may be keyed by it. */
export interface CustomObject {
  readonly kind: DefinitionKind;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly generation: number;
  readonly resourceVersion: string;
  /** To the second: the API server keeps no more. */
  readonly createdAt: string;
  readonly annotations: Readonly<Record<string, string>>;
  readonly spec: Readonly<Record<string, unknown>>;
  /** Its spec is larger than a definition may be: only the name in it was kept. */
  readonly tooLarge: boolean;
  /** Its spec was left out because its namespace holds too much; what was accepted last may be too. */
  readonly crowded: boolean;
  /** What its spec takes in memory, or took before it was left out with large parts of the status. */
  readonly specSize: number;
  readonly status: ObjectStatus;
}

const Written = z.object({
  metadata: z.object({
    name: z.string().min(1),
    namespace: z.string().min(1),
    uid: z.string().min(1),
    generation: z.number().default(0),
    resourceVersion: z.string().min(1),
    creationTimestamp: z.string().nullable().default(''),
    annotations: z.record(z.string(), z.string()).nullish(),
  }),
  /** Null where it was left out as too large. */
  spec: z.record(z.string(), z.unknown()).nullable().default({}),
  status: z.unknown().optional(),
});

/** Reads what the API server sent; null where it is not one of our objects. */
export function toCustomObject(kind: DefinitionKind, value: unknown): CustomObject | null {
  const parsed = Written.safeParse(value);
  if (!parsed.success) return null;
  const { metadata, spec, status } = parsed.data;
  const json = spec && definitionJson(spec);
  // Kept as text and parsed at each access, which is once a change: parsed values take four times the memory.
  const written = json ?? JSON.stringify(nameIn(spec));
  return {
    kind,
    namespace: metadata.namespace,
    name: metadata.name,
    uid: metadata.uid,
    generation: metadata.generation,
    resourceVersion: metadata.resourceVersion,
    createdAt: metadata.creationTimestamp ?? '',
    annotations: ours(metadata.annotations ?? {}),
    get spec() {
      return JSON.parse(written) as Record<string, unknown>;
    },
    tooLarge: json === null,
    crowded: false,
    specSize: inMemory(written),
    status: statusIn(status),
  };
}

const nameIn = (spec: Record<string, unknown> | null): Record<string, unknown> =>
  isName(spec?.['name']) ? { name: spec['name'] } : {};

/**
 * The object with the status that was just written; of the answer only the metadata counts. Null where its spec changed meanwhile,
 * which the watch will say.
 */
export function withStatus(object: CustomObject, status: ObjectStatus, answer: unknown): CustomObject | null {
  const { data } = Written.safeParse(answer);
  if (data?.metadata.generation !== object.generation) return null;
  const { resourceVersion, annotations } = data.metadata;
  const changed = { resourceVersion, annotations: ours(annotations ?? {}), status };
  return copyWith(object, changed);
}

/** Copies the getter of the spec, not what it answers. */
function copyWith(object: CustomObject, changed: Partial<CustomObject>): CustomObject {
  const all = { ...Object.getOwnPropertyDescriptors(object), ...Object.getOwnPropertyDescriptors(changed) };
  return Object.defineProperties({} as CustomObject, all);
}

/** What was accepted last takes in memory, also where it was left out. */
export const acceptedSize = ({ status: { lastAccepted } }: CustomObject): number =>
  lastAccepted?.leftOut ?? lastAccepted?.gzip.length ?? 0;

/** What the object takes in memory that grows with what its author writes; of a crowded one, what it took. */
export const sizeOf = (object: CustomObject): number =>
  object.specSize + acceptedSize(object) + beyondUsual(object.status);

/** Only what names it is left of its spec, and of its status what is usual. */
export function withoutSpec(object: CustomObject): CustomObject {
  if (object.crowded) return object;
  const status = smallStatus(object.status);
  return copyWith(object, {
    spec: nameIn(object.spec),
    tooLarge: true,
    crowded: true,
    specSize: object.specSize + beyondUsual(object.status) - beyondUsual(status),
    status,
  });
}

/** Of what was accepted last only the hash is left, and what the status says of an agent that its namespace needs rights for. */
export function withoutAccepted(object: CustomObject): CustomObject {
  const { lastAccepted } = object.status;
  if (!lastAccepted || lastAccepted.leftOut !== undefined) return object;
  // Nothing is unpacked here: this is called of all objects of a list at once.
  const leftOut = { ...lastAccepted, gzip: '', leftOut: lastAccepted.gzip.length };
  return copyWith(object, { status: { ...object.status, lastAccepted: leftOut } });
}

export const READINESS_GATE = `${GROUP}/readiness-gate`;
export const GOLDEN_SET = `${GROUP}/golden-set`;
const MAX_ANNOTATION = 256;

/** Others may be as large as the object: kubectl keeps a copy of it in one. */
const ours = (annotations: Record<string, string>): Record<string, string> =>
  Object.fromEntries(
    [READINESS_GATE, GOLDEN_SET].flatMap((key) => {
      const value = annotations[key];
      return value === undefined || value.length > MAX_ANNOTATION ? [] : [[key, value]];
    }),
  );

/** `Pipeline team-a/checkout`, as messages name an object. */
export const describe = ({ kind, namespace, name }: Pick<CustomObject, 'kind' | 'namespace' | 'name'>): string =>
  `${kind} ${namespace}/${name}`;

export function byAge(a: CustomObject, b: CustomObject): number {
  return (
    compare(a.createdAt, b.createdAt) ||
    compare(a.kind, b.kind) ||
    compare(a.namespace, b.namespace) ||
    compare(a.name, b.name) ||
    compare(a.uid, b.uid)
  );
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

const definitionNames = new WeakMap<object, string>();

/** The name of a definition in the services: `spec.name`, or else the name of the object, which allows fewer characters. */
export function definitionName(object: Pick<CustomObject, 'spec' | 'name'>): string {
  const known = definitionNames.get(object);
  if (known !== undefined) return known;
  const given = object.spec['name'];
  const name = typeof given === 'string' ? given : object.name;
  definitionNames.set(object, name);
  return name;
}
