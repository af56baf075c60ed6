import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { EXPORT_FORMATS, MEDIA_TYPES } from '../../../service/exports/formats.ts';
import { exportRows } from '../../../service/replay/export.ts';
import type { ReplayReport } from '../../../service/views/replay.ts';
import type { ReplayChainReport } from '../../../service/views/replay-chain.ts';
import { operatorOf } from '../operator.ts';
import type { PageDeps } from '../page-deps.ts';
import { mayOperate, type PageContext, sendPage } from '../page.ts';
import { paths } from '../paths.ts';
import { pageIn } from '../portion.ts';
import { unlessConflict } from '../problems.ts';
import { chainReportView } from './chain-view.ts';
import { replayReportView } from './report-view.ts';
import { versionsOf } from './versions-of.ts';
import { rangeWords } from './words.ts';

const idIn = (request: FastifyRequest): string => (request.params as { id: string }).id;

const Export = z.object({ format: z.enum(EXPORT_FORMATS).catch('csv') });

/** `/ui/replays/{id}`: the report of a batch, of one step or of a range of steps (Orchestration 4.6). */
export function registerReports(app: FastifyInstance, context: PageContext): void {
  const { deps } = context;

  app.get('/ui/replays/:id', async (request, reply) => {
    const report = await deps.replays.report(idIn(request));
    const shown = {
      operator: mayOperate(deps.auth.viewer(request)),
      now: deps.now(),
      currency: deps.currency,
      page: pageIn(request.query),
    };
    if (report.kind === 'chain') {
      const recordedTemplates = await templatesOf(deps, report, request.signal);
      const model = chainReportView({ ...shown, report, recordedTemplates });
      const title = `Replay of ${rangeWords(report)}`;
      return sendPage(context, request, reply, { title, nav: 'replays', template: 'chain', model });
    }
    const recordedTemplate = await templateOf(deps, report, request.signal);
    const model = replayReportView({ ...shown, report, recordedTemplate });
    const title = `Replay of ${report.step_name}`;
    return sendPage(context, request, reply, { title, nav: 'replays', template: 'replay', model });
  });

  app.get('/ui/replays/:id/export', async (request, reply) => {
    const { format } = Export.parse(request.query);
    const report = await deps.replays.report(idIn(request));
    return reply
      .header('content-type', MEDIA_TYPES[format])
      .header('content-disposition', `attachment; filename="replay-${report.run_id}.${format}"`)
      .send(exportRows(report, format));
  });

  app.post('/ui/replays/:id/cancel', async (request, reply) => {
    const by = await operatorOf(context, request, reply);
    if (by === null) return reply;
    // A batch that has ended meanwhile is shown as it is.
    await deps.runs.cancel(idIn(request), by).catch(unlessConflict);
    return reply.redirect(paths.replay(idIn(request)), 303);
  });
}

/** The template that the samples were asked with; null where the candidate keeps it, or it is not stored. */
async function templateOf(deps: PageDeps, report: ReplayReport, signal: AbortSignal): Promise<string | null> {
  if (report.candidate.prompt_template === undefined) return null;
  const versions = await versionsOf(deps, report.step_name, signal);
  const known = versions.find(({ prompt_hash: hash }) => hash === report.source_bucket?.prompt_hash) ?? versions[0];
  return known?.template ?? null;
}

/** The newest template in this pipeline of each step whose template the candidate changes. */
async function templatesOf(deps: PageDeps, report: ReplayChainReport, signal: AbortSignal) {
  const { candidate, pipeline_name: pipeline } = report;
  const changed = Object.keys(candidate).filter((step) => candidate[step]?.prompt_template !== undefined);
  const templates = new Map<string, string>();
  for (const step of changed) {
    const versions = await versionsOf(deps, step, signal);
    const newest = versions.find(({ pipelines }) => pipelines.includes(pipeline));
    if (newest?.template) templates.set(step, newest.template);
  }
  return templates;
}
