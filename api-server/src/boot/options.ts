import type { Config } from '../config/config.ts';
import type { Logs } from '../observability/logger.ts';
import type { PipelineEnv } from '../runs/prompt/rendering.ts';
import type { Failpoints } from './failpoints.ts';

/** Start options of the service. */
export interface ServiceOptions {
  config: Config;
  version: string;
  logs: Logs;
  failpoints: Failpoints;
  pipelineEnv: PipelineEnv;
}
