import type { Browser } from 'playwright-core';
import { call } from '../support/call.ts';
import { type LocalServices, startLocalServices } from '../support/local-services.ts';
import type { LocalTokens } from '../support/local-tokens.ts';
import { scratchDirectory } from '../support/scratch.ts';
import { waitFor } from '../support/wait-for.ts';
import { launch } from './chromium.ts';
import { type HeldPipeline, holdPipeline } from './held-pipeline.ts';
import { writeManagedObjects } from './managed-objects.ts';

/** Both services, a browser, and a pipeline that the test lets go on. */
export interface Site {
  url: string;
  browser: Browser;
  tokens: LocalTokens;
  held: HeldPipeline;
  /** Starts a run of the held pipeline and answers its id. */
  start(summary: string): Promise<string>;
  /** As `start`, and lets it end. */
  finish(summary: string): Promise<string>;
  close(): Promise<void>;
}

/** With `managed`, a controller has written objects for both services. */
export async function openSite({ managed = false } = {}): Promise<Site> {
  const opened: (() => Promise<unknown> | void)[] = [];
  const close = async () => {
    for (let undo = opened.pop(); undo; undo = opened.pop()) await undo();
  };
  try {
    const scratch = scratchDirectory('signalbox-browser-');
    opened.push(scratch.remove);
    const held = await holdPipeline(scratch.path);
    opened.push(held.close);
    const objects = managed ? writeManagedObjects(scratch.path) : null;
    const services = await startLocalServices({
      dataDir: scratch.path,
      change: {
        gateway: (config) => void (config.managed_dir = objects?.gateway),
        'api-server': (config) => {
          config.pipeline_config_dir = held.dir;
          config.managed_dir = objects?.apiServer;
        },
      },
    });
    opened.push(services.stop);
    const browser = await launch();
    opened.push(() => browser.close());
    return { ...siteOf(services, held), browser, held, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** What tests do with the services: start a run, and see one through. */
function siteOf({ apiServer, tokens }: LocalServices, held: HeldPipeline) {
  const start = async (summary: string) => {
    const body = { pipeline: held.name, summary };
    const answer = await call<{ run_id: string }>(`${apiServer.url}/webhook?source=generic`, {
      token: tokens.webhook,
      body,
    });
    if (answer.status !== 202) throw new Error(`the webhook answered ${answer.status}: ${JSON.stringify(answer.body)}`);
    return answer.body.run_id;
  };
  const ended = async (id: string) => {
    const { body } = await call<{ status: string }>(`${apiServer.url}/runs/${id}`, { token: tokens.viewer });
    return body.status !== 'running';
  };
  const finish = async (summary: string) => {
    const id = await start(summary);
    await held.release();
    await waitFor(() => ended(id), { what: `run ${id} to end` });
    return id;
  };
  return { url: apiServer.url, tokens, start, finish };
}
