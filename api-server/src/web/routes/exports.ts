import { MEDIA_TYPES } from '../../service/exports/formats.ts';
import { EXPORT_KINDS, type ExportKind, ExportQuery } from '../../service/exports/exports.ts';
import type { Services } from '../../service/services.ts';
import { exportStream } from '../export-stream.ts';
import { route, type Route } from '../route.ts';

const IDS: Record<ExportKind, string> = {
  runs: 'exportRuns',
  steps: 'exportSteps',
  marks: 'exportMarks',
  deliveries: 'exportDeliveries',
};
const SUMMARIES: Record<ExportKind, string> = {
  runs: 'All runs as JSONL or CSV, the oldest first',
  steps: 'All step executions as JSONL or CSV, by run, the oldest first',
  marks: 'All marks as JSONL or CSV, by run, the oldest first',
  deliveries: 'All kept deliveries as JSONL or CSV, the oldest first',
};
const EXAMPLE =
  '{"id":"01a1febd-87d9-73c1-984a-8e11a3329cb6","pipeline_name":"checkout-errors","status":"completed"}\n';

/** Everything of one kind as a file, for a spreadsheet or another program. */
export const exportRoutes = ({ exports }: Pick<Services, 'exports'>): Route[] =>
  EXPORT_KINDS.map((kind) =>
    route({
      method: 'GET',
      url: `/exports/${kind}`,
      role: 'viewer',
      id: IDS[kind],
      tag: 'exports',
      summary: SUMMARIES[kind],
      query: ExportQuery,
      answers: { 200: { mediaType: MEDIA_TYPES.jsonl, example: EXAMPLE } },
      refusals: ['unavailable', 'rate_limited'],
      handler: ({ query, request, reply }) => exportStream(exports, kind, query, { request, reply }),
    }),
  );
