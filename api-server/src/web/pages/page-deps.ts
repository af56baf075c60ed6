import type { Services } from '../../service/services.ts';
import type { PageAuth } from '../auth/page-auth.ts';
import type { TeamView } from './runs/views/view.ts';
import type { ApiDescription } from '../openapi.ts';

/** What pages need: the use cases, and the session of the request. */
export interface PageDeps extends Omit<Services, 'status'> {
  auth: Pick<PageAuth, 'viewer' | 'logIn' | 'logOut' | 'mayPost'>;
  version: string;
  /** What `GET /openapi.json` answers. */
  describe(): Promise<ApiDescription>;
  /** Display label only (Orchestration 2.13). */
  currency: string;
  /** Named views of the list of runs, by team. */
  views: readonly TeamView[];
  now(): number;
}
