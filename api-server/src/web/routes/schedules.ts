import type { Services } from '../../service/services.ts';
import { ScheduleList } from '../../service/views/schedule.ts';
import { route, type Route } from '../route.ts';

/** Scheduled pipelines (Orchestration 4.2). */
export const scheduleRoutes = ({ schedules }: Pick<Services, 'schedules'>): Route[] => [
  route({
    method: 'GET',
    url: '/schedules',
    role: 'viewer',
    id: 'listSchedules',
    tag: 'definitions',
    summary: 'Scheduled pipelines, with their next run',
    answers: { 200: ScheduleList },
    handler: async () => ({ schedules: await schedules() }),
  }),
];
