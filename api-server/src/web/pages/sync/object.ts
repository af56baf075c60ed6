import { age, exactTime, hashStart } from '../format.ts';
import type { SyncedObject } from '../../../service/cluster/cluster.ts';
import { paths } from '../paths.ts';
import { plural } from '../runs/row.ts';
import type { StatusLook } from '../status.ts';

type Condition = SyncedObject['conditions'][number];

const READY: StatusLook = { icon: 'completed', word: 'Ready', tone: 'good' };
const NOT_READY: StatusLook = { icon: 'failed', word: 'Not ready', tone: 'bad' };
const ON_ITS_WAY: StatusLook = { icon: 'running', word: 'On its way', tone: 'live' };
const UNKNOWN: StatusLook = { icon: 'pending', word: 'Not known', tone: 'quiet' };
/** Reasons that resolve without action. */
const PASSING = new Set(['OutOfDate', 'Starting', 'Replacing']);

const readyOf = ({ conditions }: SyncedObject): Condition | undefined =>
  conditions.find(({ type }) => type === 'Ready');

export function stateOf(object: SyncedObject): StatusLook {
  const ready = readyOf(object);
  if (ready?.status === 'True') return READY;
  if (ready?.status !== 'False') return UNKNOWN;
  return PASSING.has(ready.reason ?? '') ? ON_ITS_WAY : NOT_READY;
}

/** Objects that need attention are sorted first. */
const URGENCY: Record<StatusLook['tone'], number> = { bad: 0, live: 1, quiet: 2, wait: 2, escalated: 2, good: 3 };
export const urgencyOf = (object: SyncedObject): number => URGENCY[stateOf(object).tone];

const LOOKS: Record<Condition['status'], Pick<StatusLook, 'icon' | 'tone'>> = {
  True: { icon: 'check', tone: 'good' },
  False: { icon: 'cross', tone: 'bad' },
  Unknown: { icon: 'pending', tone: 'quiet' },
};
/** Conditions that give advice; False is not a fault of the object. */
const ADVISORY: ReadonlySet<string> = new Set(['PromotionReady', 'RegressionFree']);

function lookOf({ type, status, reason = '' }: Condition): Pick<StatusLook, 'icon' | 'tone'> {
  if (status !== 'False') return LOOKS[status];
  if (ADVISORY.has(type)) return { icon: 'half', tone: 'quiet' };
  return PASSING.has(reason) ? { icon: 'half', tone: 'live' } : LOOKS.False;
}

function conditionView(condition: Condition, now: number) {
  const { type, status, reason, message, lastTransitionTime: since } = condition;
  const when = since === undefined ? '' : `since ${exactTime(since)} (${age(since, now)})`;
  return {
    ...lookOf(condition),
    type,
    said: status === 'True' ? 'yes' : status === 'False' ? 'no' : 'unknown',
    reason: status === 'True' ? null : reason,
    title: [message, when].filter(Boolean).join(', '),
  };
}

/** Why the object is not ready. Each message once: `Ready` repeats those of other conditions. */
function troublesOf({ conditions }: SyncedObject) {
  const said = new Map<string, { reason: string; message: string; bad: boolean }>();
  for (const { type, status, reason = '', message = '' } of conditions)
    if (status !== 'True' && !ADVISORY.has(type) && message !== '' && !said.has(message))
      said.set(message, { reason, message, bad: status === 'False' && !PASSING.has(reason) });
  return [...said.values()];
}

const MAX_REPLICAS_SHOWN = 12;

/** The replicas with the hash that each serves; replicas with another hash first. */
function replicasOf({ replicas, hash }: SyncedObject) {
  const behind = replicas.filter((replica) => replica.hash !== hash).length;
  const counted = behind === 0 ? plural(replicas.length, 'replica') : `${behind} of ${replicas.length} behind`;
  return {
    counted: replicas.length === 0 ? 'no replica seen' : counted,
    behind: behind > 0,
    more: Math.max(0, replicas.length - MAX_REPLICAS_SHOWN),
    rows: replicas
      .toSorted((a, b) => Number(a.hash === hash) - Number(b.hash === hash))
      .slice(0, MAX_REPLICAS_SHOWN)
      .map(({ pod, hash: has }) => ({
        pod,
        hash: has === null ? 'none' : hashStart(has),
        same: has === hash,
        title: has === hash ? 'has this definition' : 'has another definition, or none',
      })),
  };
}

function hrefOf({ kind, definition }: SyncedObject): string | null {
  if (definition === null) return null;
  switch (kind) {
    case 'Pipeline':
      return paths.pipeline(definition);
    case 'LibraryStep':
      return paths.step(definition);
    case 'Agent':
      return paths.agents();
    default:
      return kind satisfies never;
  }
}

/** One object as its row shows it. */
export function objectView(object: SyncedObject, now: number) {
  const { name, namespace, definition, hash, conditions } = object;
  return {
    name,
    namespace,
    // Only where the definition has another name than the object.
    alias: definition !== null && definition !== name ? definition : null,
    href: hrefOf(object),
    state: stateOf(object),
    hash: hash === null ? null : hashStart(hash),
    conditions: conditions.map((condition) => conditionView(condition, now)),
    troubles: troublesOf(object),
    replicas: replicasOf(object),
  };
}
