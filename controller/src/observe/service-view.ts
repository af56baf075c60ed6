import { cutShort, type DefinitionKind } from '@signalbox/crds';
import { z } from 'zod';

/** What one replica of a service has loaded. */
export interface ReplicaView {
  pod: string;
  /** `Kind name` -> hash. */
  hashes: ReadonlyMap<string, string>;
  lastRuns: ReadonlyMap<string, LastRun>;
  /** Messages of load errors, by `Kind name`. */
  errors: ReadonlyMap<string, string>;
  /** The same for warnings: the definition is served, and needs attention. */
  warnings: ReadonlyMap<string, string>;
  /** Readiness verdicts, where the service gives them, with their reasons. */
  verdicts: ReadonlyMap<string, ReadinessVerdict>;
  /** What the last replay of each golden set says, by its name. */
  goldenSets: ReadonlyMap<string, GoldenVerdict>;
  /** The tools that agents can call, where the service reports them. */
  tools: ReadonlyMap<string, readonly DiscoveredTool[]>;
}

export interface ReadinessVerdict {
  verdict: string;
  reason?: string | undefined;
}

export interface GoldenVerdict {
  verdict: string;
  reason: string;
}

export interface DiscoveredTool {
  server: string;
  name: string;
  hash: string;
}

export interface LastRun {
  id: string;
  status: string;
  triggeredAt: string;
}

/** The last answers of all replicas of a service; `failed` names those that did not answer. */
export type ServiceView =
  | { asked: false }
  | { asked: true; replicas: ReplicaView[]; failed: { pod: string; message: string }[] };

export const keyOf = (kind: DefinitionKind, name: string): string => `${kind} ${name}`;

/** What goes into a status is bounded: one that is too large counts as none when it is read. */
const MAX_MESSAGE = 1000;
const MAX_TOOLS_CHARS = 128 * 1024;

/** Entries of one list. How many there are is looked at before any of them is: to describe each wrong one takes seconds. */
const MAX_ENTRIES = 50_000;

/** Problems beyond those are left out: who writes a definition decides how many it has, and the answer is about those of all. */
const firstOf = <T extends z.ZodType>(problem: T) =>
  z
    .array(z.unknown())
    .transform((list) => list.slice(0, MAX_ENTRIES))
    .pipe(z.array(problem))
    .prefault([]);

const Problem = z.looseObject({
  kind: z.enum(['Pipeline', 'LibraryStep', 'Agent']).nullish(),
  name: z.string().nullish(),
  msg: z.string(),
});

const Definitions = z.looseObject({
  definitions: z
    .array(
      z.looseObject({
        kind: z.enum(['Pipeline', 'LibraryStep']),
        name: z.string(),
        hash: z.string(),
        last_run: z.looseObject({ id: z.string(), status: z.string(), triggered_at: z.string() }).nullish(),
        verdict: z.string().nullish().catch(null),
        verdict_reason: z.string().max(1024).nullish().catch(null),
      }),
    )
    .max(MAX_ENTRIES),
  errors: firstOf(Problem),
  warnings: firstOf(Problem),
  golden_sets: z
    .array(z.looseObject({ name: z.string(), verdict: z.string(), reason: z.string() }))
    .max(MAX_ENTRIES)
    .default([])
    .catch([]),
});

/** Reads `GET /definitions` of the api-server; null where the answer has another form. */
export function readDefinitions(pod: string, body: unknown): ReplicaView | null {
  const parsed = Definitions.safeParse(body);
  if (!parsed.success) return null;
  const { definitions, errors, warnings, golden_sets: sets } = parsed.data;
  return {
    pod,
    hashes: new Map(definitions.map(({ kind, name, hash }) => [keyOf(kind, name), hash])),
    lastRuns: new Map(
      definitions.flatMap(({ kind, name, last_run: run }) =>
        run ? [[keyOf(kind, name), { id: run.id, status: run.status, triggeredAt: run.triggered_at }] as const] : [],
      ),
    ),
    errors: messagesOf(errors),
    warnings: messagesOf(warnings),
    verdicts: new Map(
      definitions.flatMap(({ kind, name, verdict, verdict_reason: reason }) =>
        verdict ? [[keyOf(kind, name), { verdict, ...(reason ? { reason } : {}) }] as const] : [],
      ),
    ),
    goldenSets: new Map(
      sets.map(({ name, verdict, reason }) => [name, { verdict, reason: cutShort(reason, MAX_MESSAGE) }]),
    ),
    tools: new Map(),
  };
}

/** The first of each definition; the last may only say how many more there are. */
const messagesOf = (problems: readonly z.infer<typeof Problem>[]): ReadonlyMap<string, string> =>
  new Map(
    problems
      .toReversed()
      .flatMap(({ kind, name, msg }) =>
        kind && name ? [[keyOf(kind, name), cutShort(msg, MAX_MESSAGE)] as const] : [],
      ),
  );

const Tool = z.object({ server: z.string(), name: z.string(), hash: z.string() });
const Agents = z.looseObject({
  errors: firstOf(
    z.looseObject({ agent: z.string(), field: z.string(), message: z.string(), severity: z.string().optional() }),
  ),
  agents: z
    .array(
      z.looseObject({ name: z.string(), version: z.string(), discovered_tools: z.array(Tool).max(1000).optional() }),
    )
    .max(MAX_ENTRIES),
});

/** Reads `GET /agents` of the gateway; null where the answer has another form. */
export function readAgents(pod: string, body: unknown): ReplicaView | null {
  const parsed = Agents.safeParse(body);
  if (!parsed.success) return null;
  const { agents } = parsed.data;
  // A problem with the field `name` is about an editable file that a managed one of that name replaces. An agent with
  // warnings only is served.
  const problems = parsed.data.errors.filter(({ field }) => field !== 'name');
  const those = (warnings: boolean) =>
    new Map(
      problems
        .filter(({ severity }) => (severity === 'warning') === warnings)
        .map(({ agent, field, message }) => [keyOf('Agent', agent), cutShort(`${field}: ${message}`, MAX_MESSAGE)]),
    );
  return {
    pod,
    hashes: new Map(agents.map(({ name, version }) => [keyOf('Agent', name), version])),
    lastRuns: new Map(),
    errors: those(false),
    warnings: those(true),
    verdicts: new Map(),
    goldenSets: new Map(),
    tools: new Map(
      agents.flatMap(({ name, discovered_tools: tools }) =>
        tools && JSON.stringify(tools).length <= MAX_TOOLS_CHARS ? [[keyOf('Agent', name), tools] as const] : [],
      ),
    ),
  };
}
