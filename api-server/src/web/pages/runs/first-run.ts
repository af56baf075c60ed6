import { curlOf } from '../curl.ts';
import { paths } from '../paths.ts';

export interface FirstRun {
  pipeline: string | null;
  curl: string;
  hint: string;
}

/** The command that makes the first run, with the address that the browser used and a loaded pipeline. */
export function firstRun(origin: string, pipeline: { name: string; testing: boolean } | null): FirstRun {
  const query = pipeline === null || pipeline.testing ? '?source=generic&allow_testing=true' : '?source=generic';
  const body = { pipeline: pipeline?.name ?? 'my-pipeline', summary: 'My first run' };
  return {
    pipeline: pipeline?.name ?? null,
    curl: curlOf(origin, { path: `/webhook${query}`, body }, 'WEBHOOK_TOKEN'),
    hint: `WEBHOOK_TOKEN is a token with the role webhook. The run appears on ${paths.runs()} at once.`,
  };
}
