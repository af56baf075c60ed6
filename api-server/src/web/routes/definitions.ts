import { AppError, type Problem } from '@signalbox/crds';
import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import type { Verdict } from '../../analytics/readiness/verdict.ts';
import { toManifest } from '../../definitions/manifest.ts';
import { notLoaded } from '../../definitions/not-loaded.ts';
import type { Snapshot } from '../../definitions/snapshot.ts';
import type { Run } from '../../runs/state/model.ts';
import { auditBy, type AuditDeps } from '../auth/audit-by.ts';
import { DefinitionName } from '../fields.ts';
import { route, type Route } from '../route.ts';
import { iso, pipelineSummary, stepSummary } from '../../service/views/views.ts';

export interface DefinitionRoutesDeps extends AuditDeps {
  definitions(): Snapshot;
  reload(): Promise<Snapshot>;
  /** The readiness verdict on this edition of a pipeline; null until it was looked at. */
  verdictOf(name: string, hash: string): { verdict: Verdict; reason: string } | null;
  lastRuns(pipelines: readonly string[]): Promise<ReadonlyMap<string, Run>>;
  listAgents(): Promise<{
    agents: { name: string; executor: string; model: string | null; warnings?: string[] }[];
    errors: Record<string, string>;
  }>;
}

const ByName = z.strictObject({ name: DefinitionName });
/** `cr`: as the custom resource that says the same. */
const Format = z.strictObject({ format: z.literal('cr').optional() });
const unknown = (snapshot: Snapshot, kind: 'Pipeline' | 'LibraryStep', name: string) =>
  new AppError('not_found', notLoaded(snapshot, kind, name));

/** What is loaded, and loading it again (Orchestration 4.1, 4.3, Design 5). */
export const definitionRoutes = (deps: DefinitionRoutesDeps): Route[] => [
  route({
    method: 'GET',
    url: '/pipelines',
    role: 'viewer',
    summary: 'All pipelines in load order',
    handler: () => ({ pipelines: deps.definitions().pipelines.map(pipelineSummary) }),
  }),
  route({
    method: 'GET',
    url: '/pipelines/:name',
    role: 'viewer',
    summary: 'One pipeline: resolved, and as written',
    params: ByName,
    query: Format,
    handler: ({ params, query, reply }) => {
      const pipeline = deps.definitions().byName.get(params.name);
      if (!pipeline) throw unknown(deps.definitions(), 'Pipeline', params.name);
      if (query.format === 'cr') return sendYaml(reply, toManifest('pipeline', pipeline.name, pipeline.text));
      return { config: pipeline.config, yaml: pipeline.text };
    },
  }),
  route({
    method: 'GET',
    url: '/steps',
    role: 'viewer',
    summary: 'All library steps',
    handler: () => ({ steps: deps.definitions().steps.map(stepSummary) }),
  }),
  route({
    method: 'GET',
    url: '/steps/:name',
    role: 'viewer',
    summary: 'One library step: parsed, and as written',
    params: ByName,
    query: Format,
    handler: ({ params, query, reply }) => {
      const step = deps.definitions().stepsByName.get(params.name);
      if (!step) throw unknown(deps.definitions(), 'LibraryStep', params.name);
      if (query.format === 'cr') return sendYaml(reply, toManifest('step', step.name, step.text));
      return { config: step.config, yaml: step.text };
    },
  }),
  route({
    method: 'GET',
    url: '/agents',
    role: 'viewer',
    summary: 'Agents of all backends; a backend that is down is named in errors',
    handler: () => deps.listAgents(),
  }),
  route({
    method: 'GET',
    url: '/definitions',
    role: 'viewer',
    summary: 'Hashes of what is loaded, with what was wrong at the last load',
    handler: async () => {
      const { hash, pipelines, steps, problems } = deps.definitions();
      const runs = await deps.lastRuns(pipelines.map(({ name }) => name));
      return {
        hash,
        definitions: [
          ...pipelines.map(({ name, hash: own }) => ({
            kind: 'Pipeline',
            name,
            hash: own,
            last_run: lastRun(runs.get(name)),
            ...verdictView(deps.verdictOf(name, own)),
          })),
          ...steps.map(({ name, hash: own }) => ({
            kind: 'LibraryStep',
            name,
            hash: own,
            last_run: null,
            ...verdictView(null),
          })),
        ],
        errors: problems.filter(({ severity }) => severity === 'error'),
        warnings: problems.filter(({ severity }) => severity === 'warning'),
      };
    },
  }),
  route({
    method: 'POST',
    url: '/reload',
    role: 'admin',
    summary: 'Load all definitions again',
    handler: async (call) => {
      const reloaded = await tryReload(deps);
      await auditBy(
        deps,
        call,
      )({ action: 'reload', targetType: 'definitions', target: null, outcome: reloaded.outcome });
      if (reloaded.outcome === 'failed') throw reloaded.error;
      return { status: 'reloaded', pipelines_loaded: reloaded.pipelines, errors: reloaded.errors };
    },
  }),
];

const sendYaml = (reply: FastifyReply, text: string) => reply.type('application/yaml; charset=utf-8').send(text);

const verdictView = (found: { verdict: Verdict; reason: string } | null) => ({
  verdict: found && found.verdict,
  verdict_reason: found && found.reason,
});

const lastRun = (run: Run | undefined) =>
  run ? { id: run.id, status: run.status, triggered_at: iso(run.triggeredAt) } : null;

type Reloaded =
  | { outcome: 'reloaded' | 'reloaded_with_errors'; pipelines: number; errors: Problem[] }
  | { outcome: 'failed'; error: AppError };

async function tryReload({ reload }: DefinitionRoutesDeps): Promise<Reloaded> {
  try {
    const { pipelines, problems } = await reload();
    const errors = problems.filter(({ severity }) => severity === 'error');
    return { outcome: errors.length === 0 ? 'reloaded' : 'reloaded_with_errors', pipelines: pipelines.length, errors };
  } catch (cause) {
    return {
      outcome: 'failed',
      error: new AppError('reload_failed', 'the definitions cannot be read; what was loaded stays', { cause }),
    };
  }
}
