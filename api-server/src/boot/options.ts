import type { Config } from '../config/config.ts';
import type { Logs } from '../observability/logger.ts';
import type { PipelineEnv } from '../runs/prompt/rendering.ts';
import type { Failpoints } from './failpoints.ts';

/** What a service is started with. */
export interface ServiceOptions {
  config: Config;
  version: string;
  logs: Logs;
  failpoints: Failpoints;
  pipelineEnv: PipelineEnv;
}
