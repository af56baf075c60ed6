import type { CustomObject } from '../objects/custom-object.ts';
import type { ChildAnswer, ChildApi } from './child-api.ts';
import type { Child } from './child.ts';
import type { ChildStores } from './child-store.ts';
import { CHILD_KINDS, type ChildKind, type KubeObject } from '../objects/child-object.ts';
import { belongsTo, editionOf, nextStep } from './next-step.ts';
import { childName } from '../plan/placement.ts';

export interface ReconcileDeps {
  api: ChildApi;
  stores: Pick<ChildStores, 'of'>;
  wrote(kind: ChildKind, ok: boolean): void;
}

/** An Agent, and what this process remembers of its children. */
export interface Owned {
  owner: CustomObject;
  /** Editions of the children when they were last as wanted. */
  editions: Map<ChildKind, string>;
}

/** Null where everything is as wanted. */
export type Trouble = {
  reason: 'NameTaken' | 'PortConflict' | 'ApplyFailed' | 'Replacing';
  message: string;
} | null;

/** Applies the wanted objects of an agent; the first trouble ends it. */
export async function reconcileAgent(
  deps: ReconcileDeps,
  owned: Owned,
  wanted: readonly KubeObject[],
): Promise<Trouble> {
  for (const object of wanted) {
    const { kind, metadata } = object;
    const child = deps.stores.of(kind, metadata.namespace).get(metadata.namespace, metadata.name);
    const trouble = await settle(deps, { ...owned, object, child });
    if (trouble) return trouble;
  }
  return null;
}

/** Deletes the children of an agent that needs no pods any more. */
export async function removeChildren(deps: ReconcileDeps, owner: CustomObject): Promise<Trouble> {
  for (const kind of CHILD_KINDS.toReversed()) {
    const child = deps.stores.of(kind, owner.namespace).get(owner.namespace, childName(owner));
    if (!child || belongsTo(child, owner) === 'other') continue;
    const trouble = await remove(deps, child);
    if (trouble) return trouble;
  }
  return null;
}

interface Settling extends Owned {
  object: KubeObject;
  child: Child | undefined;
}

async function settle(deps: ReconcileDeps, settling: Settling): Promise<Trouble> {
  const { owner, editions, object, child } = settling;
  const step = nextStep(object, child, owner, editions.get(object.kind));
  switch (step.do) {
    case 'nothing':
      editions.set(object.kind, editionOf(step.child));
      return null;
    case 'apply':
      return written(deps, settling, await deps.api.apply(object, step.child));
    case 'leave':
      return nameTaken(object);
    case 'delete':
      return (await remove(deps, step.child)) ?? replacing(object);
    case 'find':
      return find(deps, settling);
    default:
      return step satisfies never;
  }
}

async function find(deps: ReconcileDeps, settling: Settling): Promise<Trouble> {
  const { owner, object } = settling;
  const found = await deps.api.find(object);
  if (!found.ok) return failed(object, found.message);
  const { child } = found;
  if (child === null) return written(deps, settling, await deps.api.create(object));
  switch (belongsTo(child, owner)) {
    case 'this':
      return written(deps, settling, await deps.api.apply(object, child));
    case 'predecessor':
      return (await remove(deps, child)) ?? replacing(object);
    default:
      return nameTaken(object);
  }
}

function written(deps: ReconcileDeps, { object, editions }: Settling, answer: ChildAnswer): Trouble {
  deps.wrote(object.kind, answer.ok);
  if (!answer.ok) return failed(object, answer.message);
  const { child } = answer;
  if (child) {
    // The store gets the written object at once: its watch event would come after the next run.
    deps.stores.of(child.kind, child.namespace).upsert(child);
    editions.set(object.kind, editionOf(child));
  }
  return null;
}

async function remove(deps: ReconcileDeps, child: Child): Promise<Trouble> {
  const answer = await deps.api.remove(child);
  deps.wrote(child.kind, answer.ok);
  if (!answer.ok) return { reason: 'ApplyFailed', message: `${child.kind} ${child.name}: ${answer.message}` };
  deps.stores.of(child.kind, child.namespace).remove(child.uid);
  return null;
}

const MAX_MESSAGE = 400;

const failed = ({ kind, metadata }: KubeObject, message: string): Trouble => ({
  reason: 'ApplyFailed',
  message: `${kind} ${metadata.name}: ${message}`.slice(0, MAX_MESSAGE),
});
const nameTaken = ({ kind, metadata }: KubeObject): Trouble => ({
  reason: 'NameTaken',
  message: `the ${kind} ${metadata.name} does not belong to this Agent; delete it, or rename the Agent`,
});
const replacing = ({ kind, metadata }: KubeObject): Trouble => ({
  reason: 'Replacing',
  message: `the ${kind} ${metadata.name} of an earlier Agent of this name is being deleted`,
});
