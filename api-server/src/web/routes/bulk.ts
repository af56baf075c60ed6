import { BulkAction, BulkResults } from '../../service/bulk/bulk.ts';
import type { Services } from '../../service/services.ts';
import { route, type Route } from '../route.ts';

/** One action for many runs. */
export const bulkRoutes = ({ bulk }: Pick<Services, 'bulk'>): Route[] => [
  route({
    method: 'POST',
    url: '/runs/bulk',
    role: 'operator',
    id: 'actOnRuns',
    tag: 'runs',
    summary: 'Acknowledge, resolve, reopen, mark, cancel or rerun up to 200 runs',
    body: BulkAction,
    answers: { 200: BulkResults },
    handler: ({ body, actor }) => bulk(body, actor),
  }),
];
