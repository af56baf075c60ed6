import { limitedNamespace } from '@signalbox/crds';
import { admits } from '../../definitions/admits.ts';
import type { TriggerContext } from '../../runs/state/model.ts';
import type { IntakeRequest } from '../../triggers/intake-deps.ts';
import type { Decision } from './decision.ts';

/** One decision of a delivery, and the alerts that it is about; the first of them was decided about. */
export interface Part {
  decision: Decision;
  alerts: readonly [TriggerContext, ...TriggerContext[]];
}

export interface Taken {
  context: TriggerContext;
  decision: Decision;
}

type Going = Taken & { decision: Extract<Decision, { go: true }> };
const goes = (one: Taken): one is Going => one.decision.go;

/**
 * One run for all alerts, which the most severe that a pipeline takes decides about, so that a severe one that none takes hides no other.
 * Where tenants take some of them it is one for the alerts of each namespace.
 */
export function shareRuns(all: readonly Taken[], team: string | null): Part[] {
  const namespaceOf = ({ decision }: Going) => limitedNamespace(decision.request.pipeline.standing);
  const going = Map.groupBy(all.filter(goes), namespaceOf);
  if ([...going.keys()].every((namespace) => namespace === null)) return partOf(all, going.get(null)?.[0] ?? all[0]);
  const leaders = [...going.values()].flatMap(([first]) => first ?? []);
  // What no pipeline takes is looked at with the alerts of the first namespace that may get it.
  const leaderOf = (one: Taken): Going | undefined =>
    goes(one)
      ? going.get(namespaceOf(one))?.[0]
      : leaders.find(({ decision }) => admits(decision.request.pipeline, { ...one.context, team }));
  const groups = Map.groupBy(all, leaderOf);
  return [...groups].flatMap(([leader, group]) => partOf(group, leader ?? group[0]));
}

/** The others are looked at by their own pipelines where those would take them, else by that of the leader. */
function partOf(group: readonly Taken[], leader: Taken | undefined): Part[] {
  if (!leader) return [];
  const { decision, context: first } = leader;
  const others = group.filter((one) => one !== leader).map(({ context }) => context);
  const alerts: Part['alerts'] = [first, ...others];
  if (!decision.go) return [{ decision, alerts }];
  const decided = new Map(group.map((one) => [one.context, one.decision]));
  const requestFor = (context: TriggerContext): IntakeRequest => {
    const own = decided.get(context);
    return own?.go ? own.request : { ...decision.request, context };
  };
  return [
    { decision: { go: true, request: { ...decision.request, merged: { contexts: others, requestFor } } }, alerts },
  ];
}
