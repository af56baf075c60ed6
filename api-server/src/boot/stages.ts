import type { WebApp } from '../web/server.ts';
import type { Foundation } from './foundation.ts';
import type { ServiceOptions } from './options.ts';
import type { People } from './people.ts';
import type { Runtime } from './runtime.ts';
import type { Operating } from './services.ts';

/** All parts of the service, for its start and its stop. */
export interface Stages {
  options: ServiceOptions;
  foundation: Foundation;
  people: People;
  runtime: Runtime;
  operating: Operating;
  app: WebApp;
}
