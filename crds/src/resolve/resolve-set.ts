import { Agent } from '../kinds/agent.ts';
import { checkAgent, unknownAgents } from './agent-rules.ts';
import { boundFindings } from './bound-findings.ts';
import { accept, checkAll, type Checked, type Resolving } from './check-all.ts';
import { expandUses, type FindStep } from './expand.ts';
import { agentVersion, contentHash } from '../hash.ts';
import { findingsOf } from './issues.ts';
import type { LanguageOptions, VerdictOf } from '../references/language.ts';
import { LibraryStep } from '../kinds/library-step.ts';
import { matchFindings, meaninglessKeys } from './pipeline-rules.ts';
import { Pipeline } from '../kinds/pipeline.ts';
import { executorPlaces, placesOf } from '../references/places.ts';
import { suggestions } from '../references/closest-name.ts';
import { checkTexts } from '../references/references.ts';
import { sightOfPipeline, sightOfStep } from '../references/sight.ts';
import type { Operator } from './operator.ts';
import type { Finding, Loc, Problem } from '../problem.ts';
import { createResolveMemo, type ResolveMemo } from './resolve-memo.ts';
import { byteOrder, type Definition, readSources, type Source, toProblem } from './source.ts';
import {
  agentFindings,
  callFindings,
  mayUse,
  type Standing,
  UNRESTRICTED,
  standingFindings,
  standingOf,
} from './standing.ts';
import { subPipelineFindings } from './sub-pipelines.ts';
import { atOnce, inTurns, type Resting, type Turns } from './turns.ts';

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
  return inTurns((verdictOf) => resolving(input, memo, verdictOf), resting);
}

/** The same as a part of other work in turns. */
export function* resolving(input: SetInput, memo: ResolveMemo, verdictOf?: VerdictOf): Turns<ResolvedSet> {
  const { operator, agents: agentSources = [] } = input;
  const problems: Problem[] = [];
  const options = { ...languageOptions(operator), verdictOf };
  const to: Resolving = { memo, problems, operator, options, rules: JSON.stringify(operator ?? null) };
  memo.makeRoom(input.pipelines.length + input.steps.length + agentSources.length);
  const steps = yield* checkSteps(yield* readSources('LibraryStep', input.steps, to), to);
  const agents = yield* checkAgents(yield* readSources('Agent', agentSources, to), to);
  const definitions = yield* readSources('Pipeline', input.pipelines, to);
  const pipelines = yield* checkPipelines(definitions, finder(steps, to), to);
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

function languageOptions(operator: Operator | undefined): LanguageOptions {
  return {
    sandbox: operator?.template_sandbox ?? true,
    pipelineEnv: operator ? new Set(operator.pipeline_env ?? []) : null,
    allowShell: operator ? (operator.allow_shell_checks ?? false) : null,
  };
}

/** Higher priority first, then file name in byte order. */
function loadOrder(a: ResolvedPipeline, b: ResolvedPipeline): number {
  return (b.config.trigger?.priority ?? 0) - (a.config.trigger?.priority ?? 0) || byteOrder(a.file, b.file);
}

const findNone: FindStep = () => ({ meant: '' });

function checkSteps(definitions: readonly Definition[], to: Resolving): Turns<Checked<LibraryStep>[]> {
  const look = ({ body }: Definition) => {
    const parsed = LibraryStep.safeParse(body);
    if (!parsed.success) return { findings: findingsOf(parsed.error, body, LibraryStep), sound: null };
    const findings = checkTexts(executorPlaces(parsed.data, []), sightOfStep(parsed.data), to.options);
    return { findings, sound: { config: parsed.data, body, hash: contentHash(body), uses: [] } };
  };
  return checkAll(definitions, { find: findNone, look }, to);
}

function checkAgents(definitions: readonly Definition[], to: Resolving): Turns<Checked<Agent>[]> {
  const look = ({ body, source }: Definition) => {
    const parsed = Agent.safeParse(body);
    if (!parsed.success) return { findings: findingsOf(parsed.error, body, Agent), sound: null };
    const standing = standingOf(to.operator?.tenancy, source.namespace);
    const findings = [
      ...checkAgent(parsed.data, source.soul, to.operator, to.options.verdictOf),
      ...agentFindings(parsed.data, standing),
    ];
    return { findings, sound: { config: parsed.data, body, hash: agentVersion(body, source.soul ?? ''), uses: [] } };
  };
  return checkAll(definitions, { find: findNone, look }, to);
}

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

function checkPipelines(definitions: readonly Definition[], find: FindStep, to: Resolving): Turns<Checked<Pipeline>[]> {
  const look = (definition: Definition, findStep: FindStep) => {
    const tenancy = to.operator?.tenancy;
    const standing = standingOf(tenancy, definition.source.namespace);
    const user = { namespace: standing.namespace, mayUse: (step: Standing) => mayUse(standing, step, tenancy) };
    const { body, uses, findings } = expandUses(definition.body, findStep, user);
    const parsed = Pipeline.safeParse(body);
    const more = parsed.success
      ? [...pipelineFindings(parsed.data, definition.body, to.options), ...standingFindings(parsed.data, standing)]
      : findingsOf(parsed.error, body, Pipeline);
    const rest = more.filter(({ loc }) => !findings.some((known) => isBelow(loc, known.loc)));
    const sound = parsed.success ? { config: parsed.data, body, hash: contentHash(body), uses } : null;
    return { findings: [...findings, ...rest], sound };
  };
  return checkAll(definitions, { find, look }, to);
}

/** An entry with a wrong `use:` or shape is reported once: its other errors follow from that. */
function isBelow(loc: Loc, known: Loc): boolean {
  return known.slice(0, -1).every((part, index) => loc[index] === part);
}

function pipelineFindings(pipeline: Pipeline, written: Record<string, unknown>, options: LanguageOptions): Finding[] {
  const texts = checkTexts(placesOf(pipeline), sightOfPipeline(pipeline), options);
  return [...texts, ...matchFindings(pipeline), ...meaninglessKeys(written)];
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
