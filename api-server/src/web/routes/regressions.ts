import { z } from 'zod';
import { idOf } from '../../service/fields.ts';
import type { Services } from '../../service/services.ts';
import { RegressionList, RegressionReport } from '../../service/views/analytics/regression.ts';
import { route, type Route } from '../route.ts';

/** Scheduled replays of golden sets (Orchestration 4.6). */
export const regressionRoutes = ({ regressions }: Pick<Services, 'regressions'>): Route[] => [
  route({
    method: 'GET',
    url: '/golden-sets/:id/regressions',
    role: 'viewer',
    id: 'listRegressions',
    tag: 'replay',
    summary: 'The schedule of a golden set and its last replays, newest first',
    params: z.strictObject({ id: idOf('golden set') }),
    answers: { 200: RegressionList },
    refusals: ['not_found'],
    handler: ({ params }) => regressions.ofSet(params.id),
  }),
  route({
    method: 'GET',
    url: '/regressions/:id',
    role: 'viewer',
    id: 'getRegression',
    tag: 'replay',
    summary: 'One scheduled replay with its members',
    params: z.strictObject({ id: idOf('regression') }),
    answers: { 200: RegressionReport },
    refusals: ['not_found'],
    handler: ({ params }) => regressions.report(params.id),
  }),
];
