import { agentsOfPipeline, Pipeline } from '@signalbox/crds';
import { definitionName } from '../objects/custom-object.ts';
import type { ServiceView } from '../observe/service-view.ts';
import type { Verdict } from '../plan/plan.ts';

/** Names of all agents: those with an object, and those that the gateway has from its own folder. Null where it was not reached. */
export function definedAgents(verdicts: readonly Verdict[], gateway: ServiceView): ReadonlySet<string> | null {
  if (!gateway.asked || gateway.replicas.length === 0) return null;
  const objects = verdicts.filter(({ object }) => object.kind === 'Agent').map(({ object }) => definitionName(object));
  const served = gateway.replicas.flatMap(({ hashes }) => [...hashes.keys()]).map((key) => key.replace(/^Agent /, ''));
  return new Set([...objects, ...served]);
}

/** Agents of the gateway that a pipeline calls and that nobody defines. */
export function undefinedAgents({ object, body }: Verdict, defined: ReadonlySet<string> | null): string[] {
  if (object.kind !== 'Pipeline' || body === null || defined === null) return [];
  return namedAgents(body).filter((name) => !defined.has(name));
}

const named = new WeakMap<object, string[]>();

/** A body is parsed once: verdicts keep theirs until it changes. */
function namedAgents(body: Record<string, unknown>): string[] {
  const known = named.get(body);
  if (known) return known;
  const { data } = Pipeline.safeParse(body);
  const agents = data ? agentsOfPipeline(data).filter(({ executor }) => executor === 'gateway') : [];
  const names = [...new Set(agents.map(({ agent }) => agent))];
  named.set(body, names);
  return names;
}
