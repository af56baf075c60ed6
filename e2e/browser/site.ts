import type { Browser } from 'playwright-core';
import { call } from '../support/call.ts';
import { startLocalServices } from '../support/local-services.ts';
import type { LocalTokens } from '../support/local-tokens.ts';
import { scratchDirectory } from '../support/scratch.ts';
import { waitFor } from '../support/wait-for.ts';
import { launch } from './chromium.ts';
import { type HeldPipeline, holdPipeline } from './held-pipeline.ts';

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

export async function openSite(): Promise<Site> {
  const scratch = scratchDirectory('signalbox-browser-');
  const held = await holdPipeline(scratch.path);
  const services = await startLocalServices({
    dataDir: scratch.path,
    change: { 'api-server': (config) => void (config.pipeline_config_dir = held.dir) },
  });
  const browser = await launch();
  const { apiServer, tokens } = services;

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
  return {
    url: apiServer.url,
    browser,
    tokens,
    held,
    start,
    finish: async (summary) => {
      const id = await start(summary);
      await held.release();
      await waitFor(() => ended(id), { what: `run ${id} to end` });
      return id;
    },
    close: async () => {
      await browser.close();
      held.close();
      await services.stop();
      scratch.remove();
    },
  };
}
