import { AppError, type ObjectReference, type Problem, type ResolvedStep } from '@signalbox/crds';
import type { Verdict } from '../../analytics/readiness/verdict.ts';
import { toManifest } from '../../definitions/manifest.ts';
import { listedProblems } from '../../definitions/listed-problems.ts';
import { notLoaded } from '../../definitions/not-loaded.ts';
import type { LoadedPipeline, Snapshot } from '../../definitions/snapshot.ts';
import type { Database } from '../../store/db/database.ts';
import { lastRuns } from '../../store/tables/last-runs.ts';
import { lastReplays } from '../../store/tables/replay/regressions.ts';
import type { Actor } from '../actor.ts';
import type { RecordAction } from '../audit/record.ts';
import {
  type AgentList,
  type DefinitionConfig,
  type DefinitionsAnswer,
  definitionsView,
  pipelineSummary,
  type PipelineSummary,
  type Reloaded,
  stepSummary,
  type StepSummary,
} from '../views/definition.ts';

export { listedProblems } from '../../definitions/listed-problems.ts';
export { perSnapshot } from '../../definitions/per-snapshot.ts';
export type { Snapshot };

export interface DefinitionsDeps {
  database: Pick<Database, 'db'>;
  definitions(): Snapshot;
  reload(): Promise<Snapshot>;
  /** The readiness verdict on this version of a pipeline; null until it is evaluated. */
  verdictOf(name: string, hash: string): { verdict: Verdict; reason: string } | null;
  listAgents(): Promise<AgentList>;
  managedBy(file: string): Promise<ManagedBy | null>;
  record: RecordAction;
}

/** The object that a controller wrote a definition from; null where its manifest does not name it. */
export interface ManagedBy {
  object: ObjectReference | null;
}

/** The loaded definitions and their reload (Orchestration 4.1, 4.3). Functions that take a name throw `not_found`. */
export interface Definitions {
  /** The loaded set, for pages. */
  snapshot(): Snapshot;
  pipelines(): PipelineSummary[];
  pipeline(name: string): LoadedPipeline;
  pipelineConfig(name: string): DefinitionConfig;
  steps(): StepSummary[];
  step(name: string): ResolvedStep;
  stepConfig(name: string): DefinitionConfig;
  /** The definition as YAML of a custom resource. */
  asResource(kind: 'Pipeline' | 'LibraryStep', name: string): string;
  agents(): Promise<AgentList>;
  /** Null for a pipeline that may be changed here. */
  ownerOf(pipeline: string): Promise<ManagedBy | null>;
  /** Hashes of the loaded definitions, last runs and verdicts, and the problems of the last load. */
  status(): Promise<DefinitionsAnswer>;
  verdictOf: DefinitionsDeps['verdictOf'];
  /** Throws `reload_failed`; the loaded definitions stay in use. */
  reload(actor: Actor): Promise<Reloaded>;
}

export function createDefinitions(deps: DefinitionsDeps): Definitions {
  const { definitions: snapshot } = deps;
  const find = <T>(loaded: ReadonlyMap<string, T>, kind: 'Pipeline' | 'LibraryStep', name: string): T => {
    const found = loaded.get(name);
    if (found !== undefined) return found;
    throw new AppError('not_found', notLoaded(snapshot(), { kind, name, names: loaded.keys() }));
  };
  const pipeline = (name: string) => find(snapshot().byName, 'Pipeline', name);
  const step = (name: string) => find(snapshot().stepsByName, 'LibraryStep', name);
  return {
    snapshot,
    pipelines: () => snapshot().pipelines.map(pipelineSummary),
    pipeline,
    pipelineConfig: (name) => configOf(pipeline(name)),
    steps: () => snapshot().steps.map(stepSummary),
    step,
    stepConfig: (name) => configOf(step(name)),
    asResource: (kind, name) =>
      kind === 'Pipeline'
        ? toManifest('pipeline', name, pipeline(name).text)
        : toManifest('step', name, step(name).text),
    agents: deps.listAgents,
    ownerOf: (name) => deps.managedBy(pipeline(name).file),
    status: async () => {
      const loaded = snapshot();
      const runs = await lastRuns(
        deps.database.db,
        loaded.pipelines.map(({ name }) => name),
      );
      const goldenSets = await lastReplays(deps.database.db);
      return definitionsView(loaded, { runs, verdictOf: deps.verdictOf, goldenSets });
    },
    verdictOf: deps.verdictOf,
    reload: async (actor) => {
      const reloaded = await tryReload(deps);
      const { outcome } = reloaded;
      await deps.record(actor, { action: 'reload', targetType: 'definitions', target: null, outcome });
      if (reloaded.outcome === 'failed') throw reloaded.error;
      const { pipelines, errors, warnings } = reloaded;
      return { status: 'reloaded', pipelines_loaded: pipelines, errors, warnings };
    },
  };
}

const configOf = ({ config, text }: LoadedPipeline | ResolvedStep): DefinitionConfig => ({ config, yaml: text });

type Tried =
  | { outcome: 'reloaded' | 'reloaded_with_errors'; pipelines: number; errors: Problem[]; warnings: Problem[] }
  | { outcome: 'failed'; error: AppError };

async function tryReload({ reload }: DefinitionsDeps): Promise<Tried> {
  try {
    const { pipelines, shown } = await reload();
    const { errors, warnings } = listedProblems(shown);
    const outcome = errors.length === 0 ? 'reloaded' : 'reloaded_with_errors';
    return { outcome, pipelines: pipelines.length, errors, warnings };
  } catch (cause) {
    return {
      outcome: 'failed',
      error: new AppError('reload_failed', 'the definitions cannot be read; the loaded ones stay in use', { cause }),
    };
  }
}
