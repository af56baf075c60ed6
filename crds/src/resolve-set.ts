import { Agent } from './agent.ts';
import { checkAgent, unknownAgents } from './agent-rules.ts';
import { type Body, expandUses, type FindStep } from './expand.ts';
import { agentVersion, contentHash } from './hash.ts';
import { findingsOf } from './issues.ts';
import { checkPlaces, type LanguageOptions } from './language.ts';
import { LibraryStep } from './library-step.ts';
import { matchFindings, meaninglessKeys } from './pipeline-rules.ts';
import { Pipeline } from './pipeline.ts';
import { executorPlaces, placesOf } from './places.ts';
import type { Finding, Loc, Problem } from './problem.ts';
import { byteOrder, type Definition, readSources, type Source, toProblem } from './source.ts';
import { subPipelineFindings } from './sub-pipelines.ts';

/** What the operator's configuration says; without it the rules that need it are left out. */
export interface Operator {
  providers?: string[];
  mcp_servers?: Record<string, 'process' | 'image'>;
  allow_shell_checks?: boolean;
  pipeline_env?: string[];
  template_sandbox?: boolean;
}

export interface SetInput {
  pipelines: Source[];
  steps: Source[];
  agents?: Source[];
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

interface Checked<T> {
  definition: Definition;
  config: T;
  body: Body;
  uses: string[];
}

/**
 * The one rule by which services, controller and command line read a set of definitions (Orchestration 4.5, Design 3 and 7):
 * a definition with an error is left out and named in `problems`, and never keeps another from loading. Total: never throws.
 */
export function resolveSet(input: SetInput): ResolvedSet {
  const problems: Problem[] = [];
  const options = languageOptions(input.operator);
  const steps = checkSteps(readSources('LibraryStep', input.steps, problems), options, problems);
  const agents = checkAgents(readSources('Agent', input.agents ?? [], problems), input.operator, problems);
  const definitions = readSources('Pipeline', input.pipelines, problems);
  const pipelines = checkPipelines(definitions, finder(steps, problems), options, problems);
  const sound = withoutBrokenCalls(pipelines, definitions, problems);
  if (input.agents) problems.push(...sound.flatMap((pipeline) => agentWarnings(pipeline, agents, problems)));
  return {
    pipelines: sound.map(toPipeline).toSorted(loadOrder),
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

/** Higher priority first, then file name in byte order (Design 4). */
function loadOrder(a: ResolvedPipeline, b: ResolvedPipeline): number {
  return (b.config.trigger?.priority ?? 0) - (a.config.trigger?.priority ?? 0) || byteOrder(a.file, b.file);
}

/** Adds what was found to the problems; true when nothing of it is an error. */
function accept(definition: Definition, findings: readonly Finding[], problems: Problem[]): boolean {
  problems.push(...findings.map((finding) => toProblem(definition, finding)));
  return findings.every(({ severity }) => severity === 'warning');
}

function checkSteps(
  definitions: readonly Definition[],
  options: LanguageOptions,
  problems: Problem[],
): Checked<LibraryStep>[] {
  return definitions.flatMap((definition) => {
    const parsed = LibraryStep.safeParse(definition.body);
    const findings = parsed.success
      ? checkPlaces(executorPlaces(parsed.data, []), options)
      : findingsOf(parsed.error, definition.body);
    const ok = accept(definition, findings, problems);
    return ok && parsed.success ? [{ definition, config: parsed.data, body: definition.body, uses: [] }] : [];
  });
}

function checkAgents(
  definitions: readonly Definition[],
  operator: Operator | undefined,
  problems: Problem[],
): Checked<Agent>[] {
  return definitions.flatMap((definition) => {
    const parsed = Agent.safeParse(definition.body);
    const findings = parsed.success
      ? checkAgent(parsed.data, definition.source.soul, operator)
      : findingsOf(parsed.error, definition.body);
    const ok = accept(definition, findings, problems);
    return ok && parsed.success ? [{ definition, config: parsed.data, body: definition.body, uses: [] }] : [];
  });
}

function finder(steps: readonly Checked<LibraryStep>[], problems: readonly Problem[]): FindStep {
  const bodies = new Map(steps.map(({ config, body }) => [config.name, { body }]));
  const broken = new Set(problems.filter(({ kind }) => kind === 'LibraryStep').map(({ name }) => name));
  return (name) => bodies.get(name) ?? (broken.has(name) ? 'broken' : 'missing');
}

function checkPipelines(
  definitions: readonly Definition[],
  find: FindStep,
  options: LanguageOptions,
  problems: Problem[],
): Checked<Pipeline>[] {
  return definitions.flatMap((definition) => {
    const { body, uses, findings } = expandUses(definition.body, find);
    const parsed = Pipeline.safeParse(body);
    const more = parsed.success
      ? pipelineFindings(parsed.data, definition.body, options)
      : findingsOf(parsed.error, body);
    const ok = accept(
      definition,
      [...findings, ...more.filter(({ loc }) => !findings.some((known) => isBelow(loc, known.loc)))],
      problems,
    );
    return ok && parsed.success ? [{ definition, config: parsed.data, body, uses }] : [];
  });
}

/** An entry whose `use:` or shape is wrong is named once: what else seems wrong in it follows from that. */
function isBelow(loc: Loc, known: Loc): boolean {
  return known.slice(0, -1).every((part, index) => loc[index] === part);
}

function pipelineFindings(pipeline: Pipeline, written: Body, options: LanguageOptions): Finding[] {
  return [...checkPlaces(placesOf(pipeline), options), ...matchFindings(pipeline), ...meaninglessKeys(written)];
}

/** Leaves out pipelines whose `pipeline:` steps lead nowhere, in a circle or too deep. */
function withoutBrokenCalls(
  pipelines: readonly Checked<Pipeline>[],
  definitions: readonly Definition[],
  problems: Problem[],
): Checked<Pipeline>[] {
  const declared = new Set(definitions.map(({ name }) => name));
  const findings = subPipelineFindings(
    pipelines.map(({ config }) => config),
    (name) => declared.has(name),
  );
  return pipelines.filter(({ definition, config }) => accept(definition, findings.get(config.name) ?? [], problems));
}

function agentWarnings(
  { definition, config }: Checked<Pipeline>,
  agents: readonly Checked<Agent>[],
  problems: readonly Problem[],
): Problem[] {
  const broken = problems.filter(({ kind }) => kind === 'Agent').flatMap(({ name }) => name ?? []);
  const known = new Set([...agents.map((agent) => agent.config.name), ...broken]);
  return unknownAgents(config, known).map((finding) => toProblem(definition, finding));
}

function toPipeline({ definition, config, body, uses }: Checked<Pipeline>): ResolvedPipeline {
  const { file, text } = definition.source;
  return { name: config.name, file, text, config, body, hash: contentHash(body), uses };
}

function toStep({ definition, config, body }: Checked<LibraryStep>): ResolvedStep {
  const { file, text } = definition.source;
  return { name: config.name, file, text, config, body, hash: contentHash(body) };
}

function toAgent({ definition, config, body }: Checked<Agent>): ResolvedAgent {
  const { file, text, soul = '' } = definition.source;
  return { name: config.name, file, text, soul, config, body, version: agentVersion(body, soul) };
}
