import { agentVersion, contentHash } from '../hash.ts';
import { Agent } from '../kinds/agent.ts';
import { LibraryStep } from '../kinds/library-step.ts';
import { Pipeline } from '../kinds/pipeline.ts';
import type { Finding, Loc, Problem } from '../problem.ts';
import type { LanguageOptions } from '../references/language.ts';
import { executorPlaces, placesOf } from '../references/places.ts';
import { checkTexts } from '../references/references.ts';
import { sightOfPipeline, sightOfStep } from '../references/sight.ts';
import { checkAgent } from './agent-rules.ts';
import { boundFindings } from './bound-findings.ts';
import { type Body, expandUses, type FindStep } from './expand.ts';
import { findingsOf } from './issues.ts';
import type { Operator } from './operator.ts';
import { matchFindings, meaninglessKeys } from './pipeline-rules.ts';
import { type Definition, toProblem } from './source.ts';
import { agentFindings, mayUse, type Standing, standingFindings, standingOf } from './standing.ts';

export interface Sound<T> {
  config: T;
  body: Body;
  hash: string;
  uses: string[];
}

/** What was found in one definition; null for `sound` where the schema refuses it. */
interface Looked<T> {
  findings: Finding[];
  sound: Sound<T> | null;
}

export type Look<T> = (definition: Definition, find: FindStep, operator: Operator | undefined) => Looked<T>;

/** The result of the checks of one definition; `sound` is null where a problem is an error. */
export interface Judged<T> {
  sound: Sound<T> | null;
  problems: Problem[];
}

/** All checks that need no other definition but the library steps that it uses. */
export function judge<T>(look: Look<T>, ...given: Parameters<Look<T>>): Judged<T> {
  const { findings, sound } = look(...given);
  const problems: Problem[] = [];
  return { sound: accept(given[0], findings, problems) ? sound : null, problems };
}

/** Adds findings to the problems; true when none of them is an error. */
export function accept(definition: Definition, findings: readonly Finding[], problems: Problem[]): boolean {
  problems.push(...boundFindings(findings, definition.body).map((finding) => toProblem(definition, finding)));
  return findings.every(({ severity }) => severity === 'warning');
}

function languageOptions(operator: Operator | undefined): LanguageOptions {
  return {
    sandbox: operator?.template_sandbox ?? true,
    pipelineEnv: operator ? new Set(operator.pipeline_env ?? []) : null,
    allowShell: operator ? (operator.allow_shell_checks ?? false) : null,
  };
}

export const lookAtStep: Look<LibraryStep> = ({ body }, _, operator) => {
  const parsed = LibraryStep.safeParse(body);
  if (!parsed.success) return { findings: findingsOf(parsed.error, body, LibraryStep), sound: null };
  const findings = checkTexts(executorPlaces(parsed.data, []), sightOfStep(parsed.data), languageOptions(operator));
  return { findings, sound: { config: parsed.data, body, hash: contentHash(body), uses: [] } };
};

export const lookAtAgent: Look<Agent> = ({ body, source }, _, operator) => {
  const parsed = Agent.safeParse(body);
  if (!parsed.success) return { findings: findingsOf(parsed.error, body, Agent), sound: null };
  const standing = standingOf(operator?.tenancy, source.namespace);
  const findings = [...checkAgent(parsed.data, source.soul, operator), ...agentFindings(parsed.data, standing)];
  return { findings, sound: { config: parsed.data, body, hash: agentVersion(body, source.soul ?? ''), uses: [] } };
};

export const lookAtPipeline: Look<Pipeline> = (definition, find, operator) => {
  const tenancy = operator?.tenancy;
  const standing = standingOf(tenancy, definition.source.namespace);
  const user = { namespace: standing.namespace, mayUse: (step: Standing) => mayUse(standing, step, tenancy) };
  const { body, uses, findings } = expandUses(definition.body, find, user);
  const parsed = Pipeline.safeParse(body);
  const more = parsed.success
    ? [...pipelineFindings(parsed.data, definition.body, operator), ...standingFindings(parsed.data, standing)]
    : findingsOf(parsed.error, body, Pipeline);
  const rest = more.filter(({ loc }) => !findings.some((known) => isBelow(loc, known.loc)));
  const sound = parsed.success ? { config: parsed.data, body, hash: contentHash(body), uses } : null;
  return { findings: [...findings, ...rest], sound };
};

/** An entry with a wrong `use:` or shape is reported once: its other errors follow from that. */
function isBelow(loc: Loc, known: Loc): boolean {
  return known.slice(0, -1).every((part, index) => loc[index] === part);
}

function pipelineFindings(
  pipeline: Pipeline,
  written: Record<string, unknown>,
  operator: Operator | undefined,
): Finding[] {
  const texts = checkTexts(placesOf(pipeline), sightOfPipeline(pipeline), languageOptions(operator));
  return [...texts, ...matchFindings(pipeline), ...meaninglessKeys(written)];
}
