import type { Problem } from '@signalbox/crds';
import { z } from 'zod';
import { GOLDEN_VERDICTS, goldenVerdict } from '../../analytics/regression.ts';
import type { LastRun } from '../../store/tables/last-runs.ts';
import type { Regression } from '../../store/tables/replay/regressions.ts';
import type { Snapshot } from '../../definitions/snapshot.ts';
import { RUN_STATUSES, STAGES } from '../../runs/state/model.ts';
import { AnyObject, component, iso, NullableText, Time } from './answer.ts';
import { listedProblems } from '../../definitions/listed-problems.ts';

/** Orchestration 2.8. */
export const PipelineSummary = component(
  'PipelineSummary',
  z.strictObject({
    name: z.string(),
    description: NullableText,
    version: z.union([z.string(), z.number()]).nullable(),
    stage: z.enum(STAGES),
    tags: z.array(z.string()),
  }),
  { name: 'checkout-errors', description: 'Triage of checkout', version: 3, stage: 'production', tags: ['sre'] },
);
export type PipelineSummary = z.infer<typeof PipelineSummary>;
export const PipelineList = component('PipelineList', z.strictObject({ pipelines: z.array(PipelineSummary) }), {
  pipelines: [
    { name: 'checkout-errors', description: 'Triage of checkout', version: 3, stage: 'production', tags: ['sre'] },
  ],
});

export const StepSummary = component(
  'StepSummary',
  z.strictObject({
    name: z.string(),
    description: z.string(),
    tags: z.array(z.string()),
    executor: z.string(),
    agent: NullableText,
  }),
  { name: 'first-line-triage', description: 'Says how urgent it is', tags: [], executor: 'gateway', agent: 'triage' },
);
export type StepSummary = z.infer<typeof StepSummary>;
export const StepList = component('StepList', z.strictObject({ steps: z.array(StepSummary) }), {
  steps: [
    { name: 'first-line-triage', description: 'Says how urgent it is', tags: [], executor: 'gateway', agent: 'triage' },
  ],
});

/** A definition as it is in force, and as it was written (Orchestration 4.3). */
export const DefinitionConfig = component('DefinitionConfig', z.strictObject({ config: AnyObject, yaml: z.string() }), {
  config: { name: 'checkout-errors' },
  yaml: 'name: checkout-errors\n',
});
/** The body of a pipeline or library step is that of the contract. */
export interface DefinitionConfig {
  config: object;
  yaml: string;
}

/** A backend that is down contributes no agents and a line in `errors`, one that lists too many the first of them and a line (Orchestration 4.3). */
export const AgentList = component(
  'AgentList',
  z.strictObject({
    agents: z.array(
      z.strictObject({
        name: z.string(),
        executor: z.string(),
        model: NullableText,
        warnings: z.array(z.string()).optional(),
      }),
    ),
    errors: z.record(z.string(), z.string()),
  }),
  { agents: [{ name: 'sre-triage', executor: 'gateway', model: 'anthropic/claude-haiku' }], errors: {} },
);
export type AgentList = z.infer<typeof AgentList>;

/** Something wrong with a definition, or doubtful. */
export const DefinitionProblem = z
  .strictObject({
    severity: z.enum(['error', 'warning']),
    kind: NullableText,
    name: NullableText,
    file: z.string(),
    loc: z.array(z.union([z.string(), z.number()])),
    msg: z.string(),
    line: z.number().optional(),
    col: z.number().optional(),
    /** A word for programs, such as `missing_step`. */
    reason: z.string(),
  })
  .meta({ id: 'DefinitionProblem' });

export type DefinitionProblem = z.infer<typeof DefinitionProblem>;

export const DefinitionsAnswer = component(
  'Definitions',
  z.strictObject({
    hash: z.string(),
    definitions: z.array(
      z.strictObject({
        kind: z.enum(['Pipeline', 'LibraryStep']),
        name: z.string(),
        hash: z.string(),
        last_run: z.strictObject({ id: z.string(), status: z.enum(RUN_STATUSES), triggered_at: Time }).nullable(),
        /** Of promotion readiness; null until it was looked at. */
        verdict: NullableText,
        verdict_reason: NullableText,
      }),
    ),
    errors: z.array(DefinitionProblem),
    warnings: z.array(DefinitionProblem),
    /** Golden sets in use, with what their last replay says. */
    golden_sets: z.array(z.strictObject({ name: z.string(), verdict: z.enum(GOLDEN_VERDICTS), reason: z.string() })),
  }),
  { hash: '9f86d081884c', definitions: [], errors: [], warnings: [], golden_sets: [] },
);
export type DefinitionsAnswer = z.infer<typeof DefinitionsAnswer>;

export const Reloaded = component(
  'Reloaded',
  z.strictObject({
    status: z.literal('reloaded'),
    pipelines_loaded: z.number(),
    errors: z.array(DefinitionProblem),
    warnings: z.array(DefinitionProblem),
  }),
  { status: 'reloaded', pipelines_loaded: 4, errors: [], warnings: [] },
);
export interface Reloaded {
  status: 'reloaded';
  pipelines_loaded: number;
  errors: Problem[];
  warnings: Problem[];
}

interface Described {
  name: string;
  config: { description?: string; tags?: string[] };
}

export const pipelineSummary = ({
  name,
  config,
}: Described & { config: { version?: string | number; stage: PipelineSummary['stage'] } }): PipelineSummary => ({
  name,
  description: config.description ?? null,
  version: config.version ?? null,
  stage: config.stage,
  tags: config.tags ?? [],
});

export const stepSummary = ({
  name,
  config,
}: Described & { config: { executor: string; agent?: string } }): StepSummary => ({
  name,
  description: config.description ?? '',
  tags: config.tags ?? [],
  executor: config.executor,
  agent: config.agent ?? null,
});

interface Beside {
  runs: ReadonlyMap<string, LastRun>;
  verdictOf(name: string, hash: string): { verdict: string; reason: string } | null;
  goldenSets: readonly { name: string; last: Regression | null }[];
}

export const definitionsView = (
  { hash, pipelines, steps, shown }: Snapshot,
  { runs, verdictOf, goldenSets }: Beside,
): DefinitionsAnswer => ({
  hash,
  definitions: [
    ...pipelines.map(({ name, hash: own }) => {
      const found = verdictOf(name, own);
      const verdict = { verdict: found && found.verdict, verdict_reason: found && found.reason };
      return { kind: 'Pipeline' as const, name, hash: own, last_run: lastRun(runs.get(name)), ...verdict };
    }),
    ...steps.map(({ name, hash: own }) => {
      const never = { last_run: null, verdict: null, verdict_reason: null };
      return { kind: 'LibraryStep' as const, name, hash: own, ...never };
    }),
  ],
  ...listedProblems(shown),
  golden_sets: goldenSets.map(({ name, last }) => ({ name, ...goldenVerdict(last) })),
});

const lastRun = (run: LastRun | undefined) =>
  run ? { id: run.id, status: run.status, triggered_at: iso(run.triggeredAt) } : null;
