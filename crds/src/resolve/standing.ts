import { type Agent, PodFields } from '../kinds/agent.ts';
import type { Pipeline } from '../kinds/pipeline.ts';
import type { Tenancy, Tenant } from '../kinds/tenancy.ts';
import type { Finding } from '../problem.ts';
import { agentsOfPipeline } from './agent-rules.ts';
import { callsOf } from './sub-pipelines.ts';

/** `tenancy` of the configuration, with the namespace of the release; null where that is not known. */
export interface TenancyRules extends Tenancy {
  home: string | null;
}

/** Where a definition comes from, and what follows from it. */
export interface Standing {
  /** Null for a file that no controller wrote. */
  namespace: string | null;
  /** False: no alert and no schedule starts its pipelines. */
  admitted: boolean;
  /** Null where nothing is restricted. */
  tenant: Tenant | null;
}

export const UNRESTRICTED: Standing = { namespace: null, admitted: true, tenant: null };

/** Without a namespace, or without rules, nothing is restricted. An empty namespace is one that is not known. */
export function standingOf(rules: TenancyRules | undefined, namespace: string | undefined): Standing {
  if (rules === undefined || namespace === undefined) return UNRESTRICTED;
  const tenant = Object.hasOwn(rules.namespaces, namespace) ? (rules.namespaces[namespace] ?? null) : null;
  const admitted = tenant !== null || rules.open || (namespace !== '' && namespace === rules.home);
  return { namespace, admitted, tenant };
}

/** Who wrote a definition, in a message. */
export const nameOf = ({ namespace }: Pick<Standing, 'namespace'>): string =>
  namespace === null ? 'a file of the operator' : `namespace "${namespace}"`;

/** The namespace that is stored with a run; null where nothing is restricted. */
export const limitedNamespace = (standing: Pick<Standing, 'namespace' | 'admitted' | 'tenant'>): string | null =>
  isUnlimited(standing) ? null : standing.namespace;

/** Problems of one pipeline: agents that its namespace may not use, and a namespace that is not listed. */
export function standingFindings(pipeline: Pipeline, { namespace, admitted, tenant }: Standing): Finding[] {
  const allowed = tenant?.agents;
  const agents =
    allowed === undefined ? [] : agentsOfPipeline(pipeline).filter(({ agent }) => !isListed(agent, allowed));
  return [
    ...(admitted ? [] : [notListed(namespace ?? '')]),
    ...agents.map(({ agent, loc }) => ({
      loc,
      msg: `namespace "${namespace}" may not use the agent "${agent}" (tenancy.namespaces)`,
      reason: 'not_allowed' as const,
    })),
  ];
}

/** An agent as far as its namespace needs rights for it; of the keys of its pods it counts which are set. */
type Judged = Pick<Agent, 'name'> & { runtime: { [Field in keyof PodFields]?: unknown } };

/** What an agent of a namespace may not be called, and which keys of its pods it may not set. */
export const agentFindings = (agent: Judged, standing: Standing): Finding[] => [
  ...agentNameFindings(agent, standing),
  ...podFieldFindings(agent, standing),
];

function podFieldFindings({ runtime }: Judged, standing: Standing): Finding[] {
  const { namespace, tenant } = standing;
  const allowed = isUnlimited(standing) ? PodFields.keyof().options : (tenant?.pod_fields ?? []);
  const msg = `namespace "${namespace}" may not set this (pod_fields of tenancy.namespaces)`;
  return PodFields.keyof()
    .options.filter((field) => runtime[field] !== undefined && !allowed.includes(field))
    .map((field) => ({ loc: ['runtime', field], msg, reason: 'not_allowed' }));
}

/** An agent of a namespace that may use others only: what it is called decides about its tools. */
function agentNameFindings({ name }: Pick<Agent, 'name'>, { namespace, tenant }: Standing): Finding[] {
  const allowed = tenant?.agents;
  if (allowed === undefined || isListed(name, allowed)) return [];
  const msg = `namespace "${namespace}" may not define the agent "${name}" (agents of tenancy.namespaces)`;
  return [{ loc: ['name'], msg, reason: 'not_allowed' }];
}

/**
 * A name that somebody else had last: what people and other definitions know by that name is not this one. `heldBy` is the namespace, empty
 * for the operator, undefined where nobody had it.
 */
export function nameFindings(name: string, standing: Standing, heldBy: string | undefined): Finding[] {
  const { namespace, tenant } = standing;
  if (heldBy === undefined || isUnlimited(standing) || namespace === '' || heldBy === namespace) return [];
  if (tenant?.names?.includes(name)) return [];
  const holder = heldBy === '' ? 'the operator' : `namespace "${heldBy}"`;
  const msg = `"${name}" was last a name of ${holder}, and its history is theirs; take another name, or ask for this one in names of tenancy.namespaces`;
  return [{ loc: ['name'], msg, reason: 'name_conflict' }];
}

const notListed = (namespace: string): Finding => ({
  severity: 'warning',
  loc: [],
  msg: `no alert and no schedule starts it: namespace "${namespace}" is not listed in tenancy.namespaces`,
  reason: 'not_allowed',
});

const isListed = (agent: string, allowed: readonly string[]): boolean =>
  allowed.some((entry) => (entry.endsWith('*') ? agent.startsWith(entry.slice(0, -1)) : agent === entry));

/**
 * Whether a pipeline may start another as a sub-run: with the rights of another namespace a tenant would leave its own. One of a namespace
 * that is not listed may have taken a name that was free, and nothing limits what it does.
 */
export const mayCall = (caller: Standing, called: Standing): boolean =>
  caller.namespace === called.namespace || (isUnlimited(caller) && called.admitted);

const isUnlimited = ({ admitted, tenant }: Pick<Standing, 'admitted' | 'tenant'>): boolean =>
  admitted && tenant === null;

/**
 * Whether a pipeline may `use:` a library step: what stands there runs with the rights of the pipeline. A step of another namespace, which
 * may have taken a name that was free, is none.
 */
export const mayUse = (user: Standing, step: Standing, rules: TenancyRules | undefined): boolean =>
  user.namespace === step.namespace ||
  isOperators(step, rules) ||
  (rules?.library ?? []).includes(step.namespace ?? '');

/** Of a file, of the release's namespace, or of one that is not listed where `open` says that all are alike. */
const isOperators = ({ namespace, admitted, tenant }: Standing, rules: TenancyRules | undefined): boolean =>
  namespace === null || (namespace !== '' && namespace === rules?.home) || isUnlimited({ admitted, tenant });

/** Rooms and addresses that messages of a pipeline may name for the operator's bot and mail server; null for any. */
export const receiversOf = ({ admitted, tenant }: Standing): readonly string[] | null =>
  admitted ? (tenant?.receivers ?? null) : [];

/** Calls of pipelines that `mayCall` refuses. */
export function callFindings(
  pipeline: Pipeline,
  caller: Standing,
  standingNamed: (name: string) => Standing,
): Finding[] {
  return callsOf(pipeline)
    .filter(({ to }) => !mayCall(caller, standingNamed(to)))
    .map(({ to, loc }) => ({
      loc,
      msg: `${nameOf(caller)} may not start "${to}", which is of ${nameOf(standingNamed(to))}`,
      reason: 'not_allowed',
    }));
}
