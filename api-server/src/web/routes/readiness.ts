import { z } from 'zod';
import { DefinitionName } from '../../service/fields.ts';
import { BinsQuery, WhatIf } from '../../service/readiness/evaluations.ts';
import type { Services } from '../../service/services.ts';
import { Readiness, ReadinessPreview } from '../../service/views/analytics/readiness.ts';
import { unprocessable } from '../errors.ts';
import { Anything, route, type Route } from '../route.ts';

const ByName = z.strictObject({ name: DefinitionName });

/** The readiness verdict of a pipeline, and a preview with other criteria (Orchestration 4.4). */
export const readinessRoutes = ({ definitions, readiness }: Pick<Services, 'definitions' | 'readiness'>): Route[] => [
  route({
    method: 'GET',
    url: '/pipelines/:name/promotion-readiness',
    role: 'viewer',
    id: 'getReadiness',
    tag: 'readiness',
    summary: 'Whether the evidence of a pipeline meets its readiness criteria, step by step',
    params: ByName,
    query: BinsQuery,
    answers: { 200: Readiness },
    refusals: ['not_found'],
    handler: ({ params, query }) => readiness.evaluate(params.name, query),
  }),
  route({
    method: 'POST',
    url: '/pipelines/:name/promotion-readiness/preview',
    role: 'viewer',
    id: 'previewReadiness',
    tag: 'readiness',
    summary: 'The verdict with other criteria, and the YAML to use them; writes nothing',
    params: ByName,
    body: Anything,
    described: { body: WhatIf },
    answers: { 200: ReadinessPreview },
    refusals: ['not_found', 'unprocessable'],
    handler: ({ params, body }) => {
      definitions.pipeline(params.name);
      const asked = WhatIf.safeParse(body);
      if (!asked.success) throw unprocessable(asked.error, ['body']);
      return readiness.preview(params.name, asked.data, (body as { readiness: object }).readiness);
    },
  }),
];
