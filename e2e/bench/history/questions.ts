import { pipelineName, PIPELINES, stepName } from './shape.ts';

/** One request of the table; goals are in milliseconds for 1,000,000 steps. */
export interface Question {
  what: string;
  path: (runs: number) => string;
  /** CPU of the service, and of Postgres, for one request. */
  goal?: number;
  wallGoal?: number;
  /** Of the answer. */
  mostBytes?: number;
  /** Answered from a cache afterwards: each round asks another service, just started. */
  cold?: true;
  /** The whole history: twice the time for ten times as much is allowed. */
  whole?: true;
}

const at = (path: string) => () => path;
/** What a person waits for. */
const page = (what: string, path: string): Question => ({ what, path: at(path), goal: 100, mostBytes: 200_000 });
const daysAgo = (days: number): string => new Date(Date.now() - days * 86_400_000).toISOString();
const BUSIEST = pipelineName(0);
const TYPICAL = pipelineName(PIPELINES >> 1);
const STEP = stepName(2);
const NOTHING = 'giraffe';
/** Words, and beginnings of words, of some hundred runs. */
const FEW = 'error-27-dep';

export const QUESTIONS: readonly Question[] = [
  { what: '/metrics', path: at('/metrics'), goal: 20 },
  { what: 'pipeline stats 7d, busiest', path: at(`/pipelines/${BUSIEST}/stats?time_range=7d`), goal: 30 },
  { what: 'pipeline stats 7d, typical', path: at(`/pipelines/${TYPICAL}/stats?time_range=7d`), goal: 30 },
  { what: 'all pipelines 30d', path: at('/stats/pipelines?time_range=30d'), goal: 100 },
  page('insights page 24h', '/ui/insights?time_range=24h'),
  page('insights page 7d', '/ui/insights?time_range=7d'),
  page('insights page 30d', '/ui/insights?time_range=30d'),
  { ...page('insights page all', '/ui/insights?time_range=all'), goal: 150, whole: true },
  page('insights page 30d, a team', '/ui/insights?time_range=30d&team=team-00'),
  ...['agent=agent-00', 'model=model-00', 'agent=agent-00&model=model-00', 'model=model-00&team=team-00'].flatMap(
    (who) => [
      page(`insights page 7d, ${who}`, `/ui/insights?time_range=7d&${who}`),
      page(`insights page 30d, ${who}`, `/ui/insights?time_range=30d&${who}`),
      { ...page(`insights page all, ${who}`, `/ui/insights?time_range=all&${who}`), goal: 150, whole: true as const },
    ],
  ),
  page('insights page 30d, a pipeline and a model', `/ui/insights?time_range=30d&pipeline=${BUSIEST}&model=model-00`),
  { what: 'step stats 7d', path: at(`/steps/${STEP}/stats?time_range=7d`), goal: 15 },
  { what: 'step stats all', path: at(`/steps/${STEP}/stats?time_range=all`), goal: 60, whole: true },
  { what: 'step models 30d', path: at(`/steps/${STEP}/models?time_range=30d`) },
  { what: 'teams of the month', path: at('/teams') },
  { what: 'calibration, busiest step', path: at(`/steps/${STEP}/calibration`), goal: 60, wallGoal: 150, cold: true },
  { what: 'readiness, busiest', path: at(`/pipelines/${BUSIEST}/promotion-readiness`), goal: 100 },
  { what: 'readiness, typical', path: at(`/pipelines/${TYPICAL}/promotion-readiness`), goal: 100 },
  { what: 'step versions', path: at(`/steps/${STEP}/versions`), goal: 20 },
  { what: 'marking queue', path: at('/marking') },
  { ...page('overview page', '/ui/'), wallGoal: 30 },
  page('pipeline page, busiest', `/ui/pipelines/${BUSIEST}`),
  page('step page, busiest', `/ui/steps/${STEP}`),
  page('replay form, busiest step', `/ui/replays/new?step=${STEP}`),
  { what: 'runs, first page', path: at('/runs'), goal: 3 },
  { what: 'runs, by pipeline', path: at(`/runs?pipeline=${TYPICAL}`), goal: 3 },
  { what: 'runs, cursor in the middle', path: (runs) => `/runs?cursor=r${runs >> 1}`, goal: 3 },
  { what: 'runs, offset 90%', path: (runs) => `/runs?offset=${Math.floor(runs * 0.9)}`, goal: 10 },
  {
    what: 'runs, since= alone',
    path: () => `/runs?since=${daysAgo(30)}`,
    goal: 20,
  },
  { what: 'runs, sort=-cost', path: at('/runs?sort=-cost'), goal: 20 },
  { what: 'runs, q= with few matches', path: at(`/runs?q=${FEW}`), wallGoal: 20 },
  { what: 'runs, q= without a match', path: at(`/runs?q=${NOTHING}`), wallGoal: 20 },
  { what: 'runs, model= without a match', path: at('/runs?model=none'), wallGoal: 20 },
  { what: 'runs, label= without a match', path: at('/runs?label=service:none'), wallGoal: 20 },
  { what: 'runs, team= without a match', path: at('/runs?team=none'), wallGoal: 20 },
  { what: 'runs, attention=open', path: at('/runs?attention=open') },
  { what: 'deliveries, first page', path: at('/deliveries') },
  { what: 'deliveries, outcome= without a match', path: at('/deliveries?outcome=at_capacity') },
  { what: 'deliveries, pipeline= without a match', path: at('/deliveries?pipeline=none') },
  { what: 'deliveries, q= without a match', path: at(`/deliveries?q=${NOTHING}`) },
  { what: 'deliveries, until= 60 days ago', path: () => `/deliveries?until=${daysAgo(60)}` },
  { what: 'audit log', path: at('/audit') },
  { what: 'audit log, target= without a match', path: at('/audit?target=none') },
  { what: 'approvals', path: at('/approvals') },
  { what: 'messages', path: at('/notifications') },
  { what: 'messages, status= without a match', path: at('/notifications?status=failed') },
];
