import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { scratchDirectory } from '../support/scratch.ts';
import { type Service, startService } from '../support/start-service.ts';
import { waitFor } from '../support/wait-for.ts';
import { residentBytes } from './resident-bytes.ts';
import { alert, configureTenants, read } from './tenant-site.ts';

const MIB = 1024 * 1024;
/** Each is a megabyte when it is rendered. */
const TEXT = '{{vars.t}}'.repeat(17);
const MANY = Object.fromEntries(Array.from({ length: 900 }, (_, at) => [`k${at}`, TEXT]));
/** A megabyte of pieces, between which others have their turn. */
const PIECES = Object.fromEntries(
  Array.from({ length: 250 }, (_, at) => [`k${at}`, '{{#each vars.many}}{{this}}{{/each}}']),
);
const all = { name: 'all', on_failure: 'continue' };
const leaf = { name: 'look', executor: 'webhook', url: 'http://127.0.0.1:1/', when: 'false' };

const scratch = scratchDirectory('multiplied-texts-');
/** Takes connections and never answers. */
const silent = createServer();
let service: Service;
beforeAll(async () => {
  await once(silent.listen(0, '127.0.0.1'), 'listening');
  const url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}/`;
  const post = { executor: 'webhook', url };
  const body = { ...post, payload: PIECES };
  const over = JSON.stringify(Array.from({ length: 50 }, (_, at) => at));
  const pipelines = {
    payload: [{ ...all, ...post, payload: MANY }],
    headers: [{ ...all, ...post, headers: Object.fromEntries(Object.entries(MANY).slice(0, 50)) }],
    context: [{ ...all, executor: 'pipeline', pipeline: 'leaf', context: { metadata: MANY } }],
    waits: [{ name: 'each', fan_out: { over, max_items: 50, max_parallel: 50, step: body } }],
    leaf: [leaf],
  };
  const vars = { t: 'x'.repeat(60_000), many: Array.from({ length: 100 }, () => 'x'.repeat(40)) };
  const shop = Object.fromEntries(Object.entries(pipelines).map(([name, steps]) => [name, { vars, steps }]));
  const namespaces = { shop: { egress_allow: ['127.0.0.1/32'] } };
  const config = configureTenants(scratch.path, { pipelines: { shop }, namespaces });
  service = await startService('api-server', config, { nodeFlags: ['--max-old-space-size=512'] });
});
afterAll(async () => {
  await service?.stop(1_000);
  silent.close();
  scratch.remove();
});

interface Shown {
  status: string;
  steps: { status: string; error: { type: string; message: string } | null }[];
}

const start = async (pipeline: string, alertname = 'Busy') => (await alert(service, pipeline, { alertname })).run;
const shown = (run: string) => read<Shown>(service, `/runs/${run}`);

test.each([['payload'], ['headers'], ['context']])(
  'hundreds of long texts of one %s fail their step and end nothing else',
  async (kind) => {
    const run = await start(kind);
    const ended = async () => ((await shown(run)).status === 'completed' ? shown(run) : null);
    const { steps } = await waitFor(ended, { what: 'the run', timeoutMs: 5_000 });
    const message = expect.stringMatching(/larger than 1 MiB together/);
    expect(steps).toMatchObject([{ status: 'failed', error: { type: 'template_failed', message } }]);
  },
);

test('bodies of requests that nobody answers hold so much memory and no more', async () => {
  const runs: string[] = [];
  for (let at = 0; at < 8; at++) runs.push(await start('waits', `Busy ${at}`));
  const of = async (type: string) => {
    const all = await Promise.all(runs.map(shown));
    return all.flatMap(({ steps }) => steps).filter(({ error }) => error?.type === type).length;
  };
  await waitFor(async () => (await of('prompts_too_large')) > 40, { what: 'branches to fail', timeoutMs: 10_000 });
  expect(residentBytes(service)).toBeLessThan(700 * MIB);
});
