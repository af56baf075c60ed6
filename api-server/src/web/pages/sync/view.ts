import { count } from '../format.ts';
import type { GatewayObjects, SyncedObject } from '../../../service/cluster/cluster.ts';
import { paths } from '../paths.ts';
import { plural } from '../runs/row.ts';
import { PAGE_SIZE, type SyncFilters, syncQuery } from './filters.ts';
import { objectView, stateOf, urgencyOf } from './object.ts';

export interface SyncInput {
  /** Of pipelines and steps; null where no controller manages any. */
  own: SyncedObject[] | null;
  gateway: GatewayObjects;
  filters: SyncFilters;
  now: number;
}

const KINDS = [
  { kind: 'Pipeline', title: 'Pipelines', icon: 'pipelines' },
  { kind: 'LibraryStep', title: 'Library steps', icon: 'steps' },
  { kind: 'Agent', title: 'Agents', icon: 'agents' },
] as const;

const EXAMPLE = `apiVersion: signalbox.dev/v1alpha1
kind: Pipeline
metadata:
  name: checkout-errors
spec:
  trigger: {match: {alertname: CheckoutErrors}}
  steps:
    - {name: triage, executor: gateway, agent: sre-triage, prompt_template: "Look at {{summary}}"}`;

const kindOrder = (object: SyncedObject): number => KINDS.findIndex(({ kind }) => kind === object.kind);
const nameOf = ({ namespace, name }: SyncedObject): string => `${namespace}/${name}`;

/** By kind, then those that need attention, then by name. */
const inOrder = (a: SyncedObject, b: SyncedObject): number =>
  kindOrder(a) - kindOrder(b) || urgencyOf(a) - urgencyOf(b) || (nameOf(a) < nameOf(b) ? -1 : 1);

const isTrouble = (object: SyncedObject): boolean => stateOf(object).tone !== 'good';

/** Why the page has no agents; null where it has them. */
function agentsNote(gateway: GatewayObjects) {
  switch (gateway.kind) {
    case 'found':
      return null;
    case 'unreachable':
      return { bad: true, icon: 'alert', title: 'Agents are not known now', text: gateway.message };
    case 'not_configured':
      return {
        bad: false,
        icon: 'info',
        title: 'Agents are not shown',
        text: 'The gateway knows them. Set executors.gateway.rest_url in the configuration of this service to its address.',
      };
    default:
      return gateway satisfies never;
  }
}

function summary(objects: SyncedObject[]): string {
  const troubles = objects.filter(isTrouble).length;
  const all = objects.length === 1 ? '1 object' : `${count(objects.length)} objects`;
  return troubles === 0 ? `${all}, all ready` : `${all}, ${count(troubles)} not ready`;
}

const matches =
  ({ q, onlyTrouble }: SyncFilters) =>
  (object: SyncedObject): boolean =>
    (nameOf(object).includes(q) || (object.definition ?? '').toLowerCase().includes(q)) &&
    (!onlyTrouble || isTrouble(object));

function groupsOf(shown: SyncedObject[], known: SyncedObject[], now: number) {
  return KINDS.map(({ kind, title, icon }) => ({
    title,
    icon,
    id: `sync-${kind}`,
    counted: plural(known.filter((object) => object.kind === kind).length, 'object'),
    rows: shown.filter((object) => object.kind === kind).map((object) => objectView(object, now)),
  })).filter(({ rows }) => rows.length > 0);
}

function pagerOf(filters: SyncFilters, from: number, { shown, total }: { shown: number; total: number }) {
  const goTo = (page: number) => paths.sync(syncQuery({ ...filters, page }));
  return {
    range: shown === total ? null : `${count(from + 1)}–${count(from + shown)} of ${count(total)}`,
    before: filters.page > 1 ? goTo(filters.page - 1) : null,
    after: from + shown < total ? goTo(filters.page + 1) : null,
  };
}

/** The objects with their conditions, and the version that each replica serves. */
export function syncView({ own, gateway, filters, now }: SyncInput) {
  const agents = gateway.kind === 'found' ? gateway.objects : null;
  const managed = own !== null || agents !== null;
  const known = [...(own ?? []), ...(agents ?? [])];
  const matching = known.filter(matches(filters)).toSorted(inOrder);
  const from = (filters.page - 1) * PAGE_SIZE;
  const shown = matching.slice(from, from + PAGE_SIZE);
  return {
    managed,
    example: EXAMPLE,
    note: managed ? agentsNote(gateway) : null,
    summary: known.length > 0 ? summary(known) : '',
    any: known.length > 0,
    filtered: filters.q !== '' || filters.onlyTrouble || filters.page > 1,
    action: paths.sync(),
    q: filters.q,
    onlyTrouble: filters.onlyTrouble,
    pipelines: paths.pipelines(),
    ...pagerOf(filters, from, { shown: shown.length, total: matching.length }),
    groups: groupsOf(shown, known, now),
  };
}
