import { listen } from '../web/listen.ts';
import { registerPages } from '../web/pages/pages.ts';
import { createServer, type WebApp } from '../web/server.ts';
import { renewTls } from '../web/tls.ts';
import { endedSessions } from '../store/tables/ended-sessions.ts';
import { type Foundation, layFoundation } from './foundation.ts';
import type { ServiceOptions } from './options.ts';
import { reachPeople } from './people.ts';
import { wireRuntime } from './runtime.ts';
import { operate, type Operating } from './services.ts';
import { start } from './start.ts';
import { stop } from './stop.ts';

export interface Service {
  /** Listens; resolves to the base address. */
  listen(): Promise<string>;
  reload(): Promise<void>;
  /** Refuses new runs, waits for running ones up to the drain timeout, closes. */
  close(): Promise<void>;
}

/** Builds the service in stages; each uses those before it. */
export async function createService(options: ServiceOptions): Promise<Service> {
  const foundation = await layFoundation(options);
  const people = reachPeople(options, foundation);
  const runtime = await wireRuntime(options, foundation, people);
  const operating = operate(options, { foundation, people, runtime });
  const app = await openWeb(options, foundation, operating);
  const stages = { options, foundation, people, runtime, operating, app };
  return {
    listen: async () => {
      await start(stages);
      const url = await listen(app, options.config.server);
      if (foundation.own.isPartial()) void foundation.reload().catch(notReloaded(options));
      return url;
    },
    reload: async () => {
      await foundation.reload();
      await operating.services.regressions.watch.check();
      renewTls(app, options.config.server.tls);
    },
    close: () => stop(stages),
  };
}

const notReloaded =
  ({ logs }: ServiceOptions) =>
  (error: unknown) =>
    logs.log.warn(
      { err: error },
      'the large definitions that the start left out could not be read; reload to try again',
    );

/** The HTTP server with JSON routes and pages; it does not listen yet. */
function openWeb(
  { config, version, logs }: ServiceOptions,
  { database, now }: Foundation,
  { services, metrics }: Operating,
): Promise<WebApp> {
  const shown = { version, now, currency: config.pricing?.currency ?? 'USD', views: config.views };
  return createServer(config, {
    services,
    version,
    now,
    log: logs.log,
    accessLog: logs.access,
    countAuthFailure: metrics.countAuthFailure,
    endedSessions: endedSessions(database, now),
    pages: (app, auth, describe) => registerPages(app, { ...services, ...shown, auth, describe }),
  });
}
