import type { Agent } from '../kinds/agent.ts';
import type { LibraryStep } from '../kinds/library-step.ts';
import type { Pipeline } from '../kinds/pipeline.ts';
import type { Problem } from '../problem.ts';
import { suggestions } from '../references/closest-name.ts';
import { unknownAgents } from './agent-rules.ts';
import { boundFindings } from './bound-findings.ts';
import { checkAll, type Checked, type HeldBy, type Resolving } from './check-all.ts';
import type { FindStep } from './expand.ts';
import { accept, lookAtAgent, lookAtPipeline, lookAtStep } from './look.ts';
import type { Operator } from './operator.ts';
import { readSources } from './read-sources.ts';
import { createResolveMemo, type ResolveMemo } from './resolve-memo.ts';
import { byteOrder, type Definition, type Source, toProblem } from './source.ts';
import { callFindings, type Standing, UNRESTRICTED, standingOf } from './standing.ts';
import { subPipelineFindings } from './sub-pipelines.ts';
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
  memo.makeRoom(input.pipelines.length + input.steps.length + agentSources.length);
  const steps = yield* checkAll(
    yield* readSources('LibraryStep', input.steps, to),
    { find: findNone, look: lookAtStep },
    to,
  );
  const agents = yield* checkAll(
    yield* readSources('Agent', agentSources, to),
    { find: findNone, look: lookAtAgent },
    to,
  );
  const definitions = yield* readSources('Pipeline', input.pipelines, to);
  const pipelines = yield* checkAll(definitions, { find: finder(steps, to), look: lookAtPipeline }, to);
  const sound = yield* withoutBrokenCalls(pipelines, definitions, to);
  if (input.agents || input.agentsFor) {
    const { file = null, names = [] } = input.agentsFor ?? {};
    const known = new Set([...names, ...agentsNamed(agents, problems)]);
    const asked = file === null ? sound : sound.filter(({ definition }) => definition.source.file === file);
    problems.push(...asked.flatMap((pipeline) => agentWarnings(pipeline, known)));
  }
  return {
    pipelines: sound.map((one) => toPipeline(one, operator)).toSorted(loadOrder),
    steps: steps.map(toStep),
    agents: agents.map(toAgent),
    problems,
  };
}

/** Higher priority first, then file name in byte order. */
function loadOrder(a: ResolvedPipeline, b: ResolvedPipeline): number {
  return (b.config.trigger?.priority ?? 0) - (a.config.trigger?.priority ?? 0) || byteOrder(a.file, b.file);
}

const findNone: FindStep = () => ({ meant: '' });

function finder(steps: readonly Checked<LibraryStep>[], { problems, operator }: Resolving): FindStep {
  const bodies = new Map(
    steps.map(({ config, body, definition }) => {
      const standing = standingOf(operator?.tenancy, definition.source.namespace);
      return [config.name, { body, standing }];
    }),
  );
  const broken = new Set(problems.filter(({ kind }) => kind === 'LibraryStep').map(({ name }) => name));
  const meant = suggestions(new Set(bodies.keys()));
  return (name) => bodies.get(name) ?? (broken.has(name) ? 'broken' : { meant: meant(name) });
}

/** Leaves out pipelines whose `pipeline:` steps name a missing pipeline or another tenant's, form a cycle or go too deep. */
function* withoutBrokenCalls(
  pipelines: readonly Checked<Pipeline>[],
  definitions: readonly Definition[],
  { problems, operator }: Resolving,
): Turns<Checked<Pipeline>[]> {
  const standings = new Map(
    definitions.map(({ name, source }) => [name, standingOf(operator?.tenancy, source.namespace)]),
  );
  const standingNamed = (name: string) => standings.get(name) ?? UNRESTRICTED;
  const findings = subPipelineFindings(
    pipelines.map(({ config }) => config),
    new Set([...standings.keys()].filter((name) => name !== null)),
  );
  const sound: Checked<Pipeline>[] = [];
  for (const pipeline of pipelines) {
    const { definition, config } = pipeline;
    const calls = callFindings(config, standingNamed(config.name), standingNamed);
    const found = [...(findings.get(config.name) ?? []), ...calls];
    // The text is parsed again for the place of a finding.
    if (found.length > 0) yield null;
    if (accept(definition, found, problems)) sound.push(pipeline);
  }
  return sound;
}

/** Also those with errors: they are defined, and their errors are reported. */
const agentsNamed = (agents: readonly Checked<Agent>[], problems: readonly Problem[]): string[] => [
  ...agents.map(({ config }) => config.name),
  ...problems.filter(({ kind }) => kind === 'Agent').flatMap(({ name }) => name ?? []),
];

const agentWarnings = ({ definition, config }: Checked<Pipeline>, known: ReadonlySet<string>): Problem[] =>
  boundFindings(unknownAgents(config, known)).map((finding) => toProblem(definition, finding));

function toPipeline(
  { definition, config, body, hash, uses }: Checked<Pipeline>,
  operator: Operator | undefined,
): ResolvedPipeline {
  const { source } = definition;
  const standing = standingOf(operator?.tenancy, source.namespace);
  return Object.assign(textOf(source), { name: config.name, config, body, hash, uses, standing });
}

function toStep({ definition, config, body, hash }: Checked<LibraryStep>): ResolvedStep {
  const { source } = definition;
  return Object.assign(textOf(source), { name: config.name, config, body, hash });
}

function toAgent({ definition, config, body, hash }: Checked<Agent>): ResolvedAgent {
  const { source } = definition;
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
