import type { Agent } from '../kinds/agent.ts';
import type { LibraryStep } from '../kinds/library-step.ts';
import type { Pipeline } from '../kinds/pipeline.ts';
import type { Problem } from '../problem.ts';
import { suggestions } from '../references/closest-name.ts';
import { unknownAgents } from './agent-rules.ts';
import { boundFindings } from './bound-findings.ts';
import { checkAll, type Checked, type HeldBy, type Resolving } from './check-all.ts';
import type { FindStep } from './expand.ts';
import { accept, lookAtAgent, lookAtPipeline, lookAtStep, type Sound } from './look.ts';
import type { Operator } from './operator.ts';
import { fitting } from './problem-room.ts';
import { readSources } from './read-sources.ts';
import { createResolveMemo, type ResolveMemo } from './resolve-memo.ts';
import { byteOrder, type Definition, type Source, toProblem } from './source.ts';
import { callFindings, type Standing, UNRESTRICTED, standingOf } from './standing.ts';
import { callsOf, subPipelineFindings } from './sub-pipelines.ts';
import { atOnce, inTurns, type Resting, type Turns } from './turns.ts';

export type { HeldBy } from './check-all.ts';
export type { Operator } from './operator.ts';

/** What the gateway has, for warnings about one file: finding the places in all others would take seconds. */
interface AgentsFor {
  file: string;
  names: readonly string[];
}

export interface SetInput {
  pipelines: Source[];
  steps: Source[];
  agents?: Source[];
  /** Agents that are defined elsewhere. Without them and without `agents` nothing is known of any agent. */
  agentsFor?: AgentsFor;
  operator?: Operator;
  heldBy?: HeldBy | undefined;
}

/** `body` is what was written with `use:` expanded and no defaults: what `hash` covers and what can be written to a file again. */
export interface ResolvedPipeline {
  name: string;
  file: string;
  text: string;
  config: Pipeline;
  body: Record<string, unknown>;
  hash: string;
  uses: string[];
  standing: Standing;
}
export interface ResolvedStep {
  name: string;
  file: string;
  text: string;
  config: LibraryStep;
  body: Record<string, unknown>;
  hash: string;
}
export interface ResolvedAgent {
  name: string;
  file: string;
  text: string;
  soul: string;
  config: Agent;
  body: Record<string, unknown>;
  version: string;
}
export interface ResolvedSet {
  pipelines: ResolvedPipeline[];
  steps: ResolvedStep[];
  agents: ResolvedAgent[];
  problems: Problem[];
}

/**
 * The one rule by which services, controller and command line read a set of definitions (Orchestration 4.5):
 * a definition with an error is left out and named in `problems`, and the others still load. Pass the same memo to later calls to
 * resolve only what changed. Never throws.
 */
export function resolveSet(input: SetInput, memo: ResolveMemo = createResolveMemo()): ResolvedSet {
  return atOnce(resolving(input, memo));
}

/** The same without holding up the event loop. */
export async function resolveSetInTurns(input: SetInput, memo: ResolveMemo, resting: Resting): Promise<ResolvedSet> {
  return inTurns(resolving(input, memo), resting);
}

/** The same as a part of other work in turns. */
export function* resolving(input: SetInput, memo: ResolveMemo): Turns<ResolvedSet> {
  const { operator, heldBy, agents: agentSources = [] } = input;
  const problems: Problem[] = [];
  const to: Resolving = { memo, problems, operator, rules: JSON.stringify(operator ?? null), heldBy };
  const steps = yield* checkAll(
    yield* readSources('LibraryStep', input.steps, to),
    { find: findNone, look: lookAtStep, resolve: toStep },
    to,
  );
  const agents = yield* checkAll(
    yield* readSources('Agent', agentSources, to),
    { find: findNone, look: lookAtAgent, resolve: toAgent },
    to,
  );
  const definitions = yield* readSources('Pipeline', input.pipelines, to);
  const resolve = (sound: Sound<Pipeline>, source: Source) => toPipeline(sound, source, operator);
  const pipelines = yield* checkAll(definitions, { find: finder(steps, to), look: lookAtPipeline, resolve }, to);
  const sound = yield* withoutBrokenCalls(pipelines, definitions, to);
  if (input.agents || input.agentsFor) {
    const { file = null, names = [] } = input.agentsFor ?? {};
    const known = new Set([...names, ...agentsNamed(agents, problems)]);
    const asked = file === null ? sound : sound.filter(({ definition }) => definition.source.file === file);
    yield* agentWarnings(asked, known, to);
  }
  return {
    pipelines: sound.map(({ resolved }) => resolved).toSorted(loadOrder),
    steps: steps.map(({ resolved }) => resolved),
    agents: agents.map(({ resolved }) => resolved),
    problems,
  };
}

/** Higher priority first, then file name in byte order. */
function loadOrder(a: ResolvedPipeline, b: ResolvedPipeline): number {
  return (b.config.trigger?.priority ?? 0) - (a.config.trigger?.priority ?? 0) || byteOrder(a.file, b.file);
}

const findNone: FindStep = () => ({ meant: '' });

function finder(steps: readonly Checked<ResolvedStep>[], { problems, operator }: Resolving): FindStep {
  const bodies = new Map(
    steps.map(({ resolved: { name, body }, definition }) => {
      const standing = standingOf(operator?.tenancy, definition.source.namespace);
      return [name, { body, standing }];
    }),
  );
  const broken = new Set(problems.filter(({ kind }) => kind === 'LibraryStep').map(({ name }) => name));
  const meant = suggestions(new Set(bodies.keys()));
  return (name) => bodies.get(name) ?? (broken.has(name) ? 'broken' : { meant: meant(name) });
}

/** Leaves out pipelines whose `pipeline:` steps name a missing pipeline or another tenant's, form a cycle or go too deep. */
function* withoutBrokenCalls(
  pipelines: readonly Checked<ResolvedPipeline>[],
  definitions: readonly Definition[],
  { memo, problems, operator }: Resolving,
): Turns<readonly Checked<ResolvedPipeline>[]> {
  const calling = pipelines.filter(({ resolved }) => callsOf(resolved.config).length > 0);
  if (calling.length === 0) return pipelines;
  const standings = new Map<string, Standing>();
  for (const { name, source } of definitions)
    if (name !== null) standings.set(name, standingOf(operator?.tenancy, source.namespace));
  const standingNamed = (name: string) => standings.get(name) ?? UNRESTRICTED;
  const findings = yield* subPipelineFindings(
    calling.map(({ resolved }) => resolved.config),
    new Set(standings.keys()),
  );
  const broken = new Set<Checked<ResolvedPipeline>>();
  for (const pipeline of calling) {
    const { definition, resolved } = pipeline;
    const calls = callFindings(resolved.config, resolved.standing, standingNamed);
    const found = [...(findings.get(resolved.name) ?? []), ...calls];
    // The text is parsed again for the place of a finding.
    if (found.length > 0) yield null;
    const own: Problem[] = [];
    if (!accept(definition, found, own)) broken.add(pipeline);
    const { file, namespace } = definition.source;
    problems.push(...fitting(own, { memo, key: `calls ${file}`, namespace, operator }));
  }
  return pipelines.filter((pipeline) => !broken.has(pipeline));
}

/** Also those with errors: they are defined, and their errors are reported. */
const agentsNamed = (agents: readonly Checked<ResolvedAgent>[], problems: readonly Problem[]): string[] => [
  ...agents.map(({ resolved }) => resolved.name),
  ...problems.filter(({ kind }) => kind === 'Agent').flatMap(({ name }) => name ?? []),
];

function* agentWarnings(
  pipelines: readonly Checked<ResolvedPipeline>[],
  known: ReadonlySet<string>,
  { memo, problems, operator }: Resolving,
): Turns<void> {
  const unknown = unknownAgents(known);
  for (const { definition, resolved } of pipelines) {
    yield null;
    const { file, namespace } = definition.source;
    const own = boundFindings(unknown(resolved.config), definition.body).map((found) => toProblem(definition, found));
    problems.push(...fitting(own, { memo, key: `agents ${file}`, namespace, operator }));
  }
}

function toPipeline(
  { config, body, hash, uses }: Sound<Pipeline>,
  source: Source,
  operator: Operator | undefined,
): ResolvedPipeline {
  const standing = standingOf(operator?.tenancy, source.namespace);
  return Object.assign(textOf(source), { name: config.name, config, body, hash, uses, standing });
}

function toStep({ config, body, hash }: Sound<LibraryStep>, source: Source): ResolvedStep {
  return Object.assign(textOf(source), { name: config.name, config, body, hash });
}

function toAgent({ config, body, hash }: Sound<Agent>, source: Source): ResolvedAgent {
  const { soul = '' } = source;
  return Object.assign(textOf(source), { name: config.name, soul, config, body, version: hash });
}

/** The text is made at each access where the source has only a value. */
const textOf = (source: Source) => ({
  file: source.file,
  get text() {
    return source.text;
  },
});
