import { z } from 'zod';
import { Acknowledgement, Reopening, RunResolution } from '../../service/attention/attention.ts';
import { idOf } from '../../service/fields.ts';
import type { Services } from '../../service/services.ts';
import { RunAttention } from '../../service/views/attention.ts';
import { route, type Route } from '../route.ts';

const ById = z.strictObject({ id: idOf('run') });

/** The life of an escalation: acknowledged, resolved, opened again. */
export const attentionRoutes = ({ escalations }: Pick<Services, 'escalations'>): Route[] => [
  route({
    method: 'POST',
    url: '/runs/:id/acknowledge',
    role: 'operator',
    id: 'acknowledgeRun',
    tag: 'runs',
    summary: 'Acknowledge a run that needs people, or change its assignee and note',
    params: ById,
    body: Acknowledgement.nullish(),
    answers: { 200: RunAttention },
    refusals: ['not_found', 'conflict'],
    handler: ({ params, body, actor }) => escalations.acknowledge(params.id, body ?? { note: null }, actor),
  }),
  route({
    method: 'POST',
    url: '/runs/:id/resolve',
    role: 'operator',
    id: 'resolveRun',
    tag: 'runs',
    summary: 'Resolve a run that needs people',
    params: ById,
    body: RunResolution,
    answers: { 200: RunAttention },
    refusals: ['not_found', 'conflict'],
    handler: ({ params, body, actor }) => escalations.resolve(params.id, body, actor),
  }),
  route({
    method: 'POST',
    url: '/runs/:id/reopen',
    role: 'operator',
    id: 'reopenRun',
    tag: 'runs',
    summary: 'Open a run again that was acknowledged or resolved',
    params: ById,
    body: Reopening.nullish(),
    answers: { 200: RunAttention },
    refusals: ['not_found', 'conflict'],
    handler: ({ params, body, actor }) => escalations.reopen(params.id, body ?? { note: null }, actor),
  }),
];
