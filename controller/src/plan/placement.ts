import { Agent, type Turns } from '@signalbox/crds';
import type { CustomObject } from '../objects/custom-object.ts';
import { acceptedBody } from './last-accepted.ts';
import type { Verdict } from './plan.ts';
import type { Served } from './served.ts';

/** An agent that runs in pods, as it is served: with its last accepted body while the spec has problems. */
export interface PodAgent {
  owner: CustomObject;
  config: Agent;
  /** Changes with the agent's definition. */
  version: string;
}

export type Placement =
  | { kind: 'pods'; agent: PodAgent }
  /** Inside the gateway, or not served at all: no pods. */
  | { kind: 'none' }
  /** There is no valid body: present objects stay. */
  | { kind: 'unknown' };

export const RUNNER_PORT = 18_781;

/** Where the agent of an object runs; only for objects of kind Agent. Pure. */
export function placementOf({ object, body, served, lostName }: Verdict): Placement {
  if (lostName) return { kind: 'none' };
  if (!served) return { kind: 'unknown' };
  const known = served.from === 'spec' ? body : acceptedBody(object);
  const { soul: _, ...written } = known ?? {};
  const parsed = Agent.safeParse(written);
  if (!parsed.success) return { kind: 'unknown' };
  if (parsed.data.runtime.mode === 'process') return { kind: 'none' };
  return { kind: 'pods', agent: { owner: object, config: parsed.data, version: served.hash } };
}

/** Name of all objects that are made for an agent. */
export const childName = ({ name }: Pick<CustomObject, 'name'>): string => `agent-${name}`;

const podServed = new WeakMap<Served, boolean>();

/** Definition name -> address of its pods for the gateway, for the sync manifest. */
export function* agentAddresses(verdicts: readonly Verdict[]): Turns<Record<string, string>> {
  const rows: [string, string][] = [];
  for (const verdict of verdicts) {
    const { object, served } = verdict;
    if (object.kind !== 'Agent' || !served) continue;
    if (!podServed.has(served)) yield null;
    const inPods = podServed.get(served) ?? placementOf(verdict).kind === 'pods';
    podServed.set(served, inPods);
    if (inPods) rows.push([served.name, `${childName(object)}.${object.namespace}.svc:${RUNNER_PORT}`]);
  }
  return Object.fromEntries(rows.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
