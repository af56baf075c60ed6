import { Agent } from '../kinds/agent.ts';
import { checkAgent, unknownAgents } from './agent-rules.ts';
import { type Body, expandUses, type FindStep } from './expand.ts';
import { agentVersion, contentHash } from '../hash.ts';
import { findingsOf } from './issues.ts';
import type { LanguageOptions } from './language.ts';
import { LibraryStep } from '../kinds/library-step.ts';
import { matchFindings, meaninglessKeys } from './pipeline-rules.ts';
import { Pipeline } from '../kinds/pipeline.ts';
import { executorPlaces, placesOf } from './places.ts';
import { didYouMean } from '../references/closest-name.ts';
import { checkTexts } from '../references/references.ts';
import { sightOfPipeline, sightOfStep } from '../references/sight.ts';
import type { Finding, Loc, Problem } from '../problem.ts';
import { createResolveMemo, type ResolveMemo } from './resolve-memo.ts';
import { byteOrder, type Definition, readSources, type Source, toProblem } from './source.ts';
import {
  callFindings,
  type Standing,
  UNRESTRICTED,
  standingFindings,
  standingOf,
  type TenancyRules,
} from './standing.ts';
import { subPipelineFindings } from './sub-pipelines.ts';

/** The part of the operator's configuration that rules need; without it these rules are skipped. */
export interface Operator {
  providers?: string[];
  mcp_servers?: Record<string, 'process' | 'image'>;
  allow_shell_checks?: boolean;
  pipeline_env?: string[];
  template_sandbox?: boolean;
  tenancy?: TenancyRules;
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

interface Sound<T> {
  config: T;
  body: Body;
  hash: string;
  uses: string[];
}

interface Checked<T> extends Sound<T> {
  definition: Definition;
}

/** Shared by all checks of one call. */
interface Resolving {
  memo: ResolveMemo;
  problems: Problem[];
  operator: Operator | undefined;
  options: LanguageOptions;
  /** The operator's rules as a string; when it changes, cached results are dropped. */
  rules: string;
}

/**
 * The one rule by which services, controller and command line read a set of definitions (Orchestration 4.5):
 * a definition with an error is left out and named in `problems`, and the others still load. Pass the same memo to later calls to
 * resolve only what changed. Never throws.
 */
export function resolveSet(input: SetInput, memo: ResolveMemo = createResolveMemo()): ResolvedSet {
  const { operator, agents: agentSources = [] } = input;
  const problems: Problem[] = [];
  const options = languageOptions(operator);
  const to: Resolving = { memo, problems, operator, options, rules: JSON.stringify(operator ?? null) };
  memo.makeRoom(input.pipelines.length + input.steps.length + agentSources.length);
  const steps = checkSteps(readSources('LibraryStep', input.steps, to), to);
  const agents = checkAgents(readSources('Agent', agentSources, to), to);
  const definitions = readSources('Pipeline', input.pipelines, to);
  const pipelines = checkPipelines(definitions, finder(steps, problems), to);
  const sound = withoutBrokenCalls(pipelines, definitions, to);
  if (input.agents) problems.push(...sound.flatMap((pipeline) => agentWarnings(pipeline, agents, problems)));
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

/** Adds findings to the problems; true when none of them is an error. */
function accept(definition: Definition, findings: readonly Finding[], problems: Problem[]): boolean {
  problems.push(...findings.map((finding) => toProblem(definition, finding)));
  return findings.every(({ severity }) => severity === 'warning');
}

/** The result of the checks of one definition, with their input. */
interface Outcome<T> {
  seen: {
    body: Body;
    soul: string | undefined;
    namespace: string | undefined;
    rules: string;
    found: ReadonlyMap<string, ReturnType<FindStep>>;
  };
  sound: Sound<T> | null;
  problems: Problem[];
}

interface Check<T> {
  find: FindStep;
  /** Answers null for `sound` where the schema refuses; findings say why. */
  look(definition: Definition, find: FindStep): { findings: Finding[]; sound: Sound<T> | null };
}

/** Checks every definition that is not remembered with the same text, steps and rules; those with an error are left out. */
function checkAll<T>(definitions: readonly Definition[], { find, look }: Check<T>, to: Resolving): Checked<T>[] {
  return definitions.flatMap((definition): Checked<T>[] => {
    const { kind, source, body } = definition;
    const isCurrent = ({ seen }: Outcome<T>) =>
      seen.body === body &&
      seen.soul === source.soul &&
      seen.namespace === source.namespace &&
      seen.rules === to.rules &&
      [...seen.found].every(([name, found]) => sameFound(found, find(name)));
    const { sound, problems } = to.memo.recall(`check ${kind} ${source.file}`, isCurrent, (): Outcome<T> => {
      const found = new Map<string, ReturnType<FindStep>>();
      const remembering: FindStep = (name) => {
        const step = find(name);
        found.set(name, step);
        return step;
      };
      const looked = look(definition, remembering);
      const own: Problem[] = [];
      const ok = accept(definition, looked.findings, own);
      const seen = { body, soul: source.soul, namespace: source.namespace, rules: to.rules, found };
      return { seen, sound: ok ? looked.sound : null, problems: own };
    });
    to.problems.push(...problems);
    return sound ? [{ definition, ...sound }] : [];
  });
}

function sameFound(a: ReturnType<FindStep>, b: ReturnType<FindStep>): boolean {
  if (typeof a !== 'object' || typeof b !== 'object') return a === b;
  return 'body' in a ? 'body' in b && a.body === b.body : 'meant' in b && a.meant === b.meant;
}

const findNone: FindStep = () => ({ meant: '' });

function checkSteps(definitions: readonly Definition[], to: Resolving): Checked<LibraryStep>[] {
  const look = ({ body }: Definition) => {
    const parsed = LibraryStep.safeParse(body);
    if (!parsed.success) return { findings: findingsOf(parsed.error, body), sound: null };
    const findings = checkTexts(executorPlaces(parsed.data, []), sightOfStep(parsed.data), to.options);
    return { findings, sound: { config: parsed.data, body, hash: contentHash(body), uses: [] } };
  };
  return checkAll(definitions, { find: findNone, look }, to);
}

function checkAgents(definitions: readonly Definition[], to: Resolving): Checked<Agent>[] {
  const look = ({ body, source }: Definition) => {
    const parsed = Agent.safeParse(body);
    if (!parsed.success) return { findings: findingsOf(parsed.error, body), sound: null };
    const findings = checkAgent(parsed.data, source.soul, to.operator);
    return { findings, sound: { config: parsed.data, body, hash: agentVersion(body, source.soul ?? ''), uses: [] } };
  };
  return checkAll(definitions, { find: findNone, look }, to);
}

function finder(steps: readonly Checked<LibraryStep>[], problems: readonly Problem[]): FindStep {
  const bodies = new Map(steps.map(({ config, body }) => [config.name, { body }]));
  const broken = new Set(problems.filter(({ kind }) => kind === 'LibraryStep').map(({ name }) => name));
  return (name) => bodies.get(name) ?? (broken.has(name) ? 'broken' : { meant: didYouMean(name, bodies.keys()) });
}

function checkPipelines(definitions: readonly Definition[], find: FindStep, to: Resolving): Checked<Pipeline>[] {
  const look = (definition: Definition, findStep: FindStep) => {
    const { body, uses, findings } = expandUses(definition.body, findStep);
    const standing = standingOf(to.operator?.tenancy, definition.source.namespace);
    const parsed = Pipeline.safeParse(body);
    const more = parsed.success
      ? [...pipelineFindings(parsed.data, definition.body, to.options), ...standingFindings(parsed.data, standing)]
      : findingsOf(parsed.error, body);
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

function pipelineFindings(pipeline: Pipeline, written: Body, options: LanguageOptions): Finding[] {
  const texts = checkTexts(placesOf(pipeline), sightOfPipeline(pipeline), options);
  return [...texts, ...matchFindings(pipeline), ...meaninglessKeys(written)];
}

/** Leaves out pipelines whose `pipeline:` steps name a missing pipeline or another tenant's, form a cycle or go too deep. */
function withoutBrokenCalls(
  pipelines: readonly Checked<Pipeline>[],
  definitions: readonly Definition[],
  { problems, operator }: Resolving,
): Checked<Pipeline>[] {
  const standings = new Map(
    definitions.map(({ name, source }) => [name, standingOf(operator?.tenancy, source.namespace)]),
  );
  const standingNamed = (name: string) => standings.get(name) ?? UNRESTRICTED;
  const findings = subPipelineFindings(
    pipelines.map(({ config }) => config),
    new Set([...standings.keys()].filter((name) => name !== null)),
  );
  return pipelines.filter(({ definition, config }) => {
    const calls = callFindings(config, standingNamed(config.name), standingNamed);
    return accept(definition, [...(findings.get(config.name) ?? []), ...calls], problems);
  });
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

function toPipeline(
  { definition, config, body, hash, uses }: Checked<Pipeline>,
  operator: Operator | undefined,
): ResolvedPipeline {
  const { file, text, namespace } = definition.source;
  const standing = standingOf(operator?.tenancy, namespace);
  return { name: config.name, file, text, config, body, hash, uses, standing };
}

function toStep({ definition, config, body, hash }: Checked<LibraryStep>): ResolvedStep {
  const { file, text } = definition.source;
  return { name: config.name, file, text, config, body, hash };
}

function toAgent({ definition, config, body, hash }: Checked<Agent>): ResolvedAgent {
  const { file, text, soul = '' } = definition.source;
  return { name: config.name, file, text, soul, config, body, version: hash };
}
