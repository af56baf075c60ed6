import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { type RoutesDeps, routeTable } from '../routes/index.ts';
import { curlOf } from './curl.ts';
import { approvalLine } from './fixtures/approvals.ts';
import { VIEWER } from './fixtures/fake-deps.ts';
import { pagesWith } from './fixtures/pages-with.ts';
import { readinessReport, readinessStep } from './fixtures/readiness.ts';
import { HOSTILE, runDetail, runLine, stepDetail } from './fixtures/runs.ts';

/** What a shell hands to curl. */
function argumentsOf(commands: string): string[][] {
  const printed = execFileSync('sh', ['-c', `curl() { printf '%s\\037' "$@"; printf '\\036'; }\n${commands}`], {
    env: { SIGNALBOX_TOKEN: 'of the person' },
    encoding: 'utf8',
  });
  return printed
    .split('\u001E')
    .slice(0, -1)
    .map((one) => one.split('\u001F').slice(0, -1));
}

test('a shell passes hostile values on as they are', () => {
  const name = `it's"$(touch /tmp/x)\`id\`\\\n!${HOSTILE}`;
  const [command] = argumentsOf(curlOf("http://x'y", { path: `/a'b`, body: { name } }));
  expect(command).toEqual([
    '-X',
    'POST',
    "http://x'y/a'b",
    '-H',
    'Authorization: Bearer of the person',
    '-H',
    'Content-Type: application/json',
    '-d',
    JSON.stringify({ name }),
  ]);
});

const table = routeTable({ services: {}, metricsAuth: false, version: 'x' } as RoutesDeps).routes;
const patternOf = (url: string) => new RegExp(`^${url.replaceAll(/:\w+/g, '[^/]+').replace('*', '.+/feedback')}$`);

const CHARS: Record<string, string> = { lt: '<', gt: '>', amp: '&', quot: '"', '#x27': "'", '#x60': '`', '#x3D': '=' };
const decoded = (html: string): string => html.replaceAll(/&(#?\w+);/g, (_, name: string) => CHARS[name] ?? '?');

/** The commands of a page: for each the operation of the API, and whether it takes this body. */
function commandsOn(page: string) {
  const texts = [...page.matchAll(/<code data-copy-text>([^<]*)/g)].map(([, text]) => decoded(text ?? ''));
  return argumentsOf(texts.join('\n')).map((args) => {
    const { pathname } = new URL(args[2] ?? '');
    const to = table.find(({ method, url }) => method === 'POST' && patternOf(url).test(pathname));
    const taken = to?.described.body?.safeParse(args[8] === undefined ? undefined : JSON.parse(args[8]));
    return [to?.id, taken?.success === true ? pathname : taken?.error?.message];
  });
}

const ADMIN = { ...VIEWER, role: 'admin' as const };
const [ID, STEP] = ['01a1febe-0d12-7a30-bd62-26d4a1f0c7a9', "it's"];
const run = (fields: Parameters<typeof runDetail>[0]) => ({
  details: [runDetail({ id: ID, steps: [stepDetail({ step_name: STEP, feedback: null })], ...fields })],
});
const ENTRY = { name: 'host-load', file: 'a.yaml', text: 'name: host-load\n', hash: 'h', config: {} };
const loaded = { viewer: ADMIN, definitions: { pipelines: [ENTRY] }, readiness: readinessReport([readinessStep()]) };
const asked = approvalLine({ fields: [{ name: 'size', type: 'string', required: true, default: HOSTILE }] });

test.each<[string, Parameters<typeof pagesWith>[0], unknown[]]>([
  [
    `/ui/runs/${ID}`,
    run({ status: 'escalated', attention: 'open' }),
    [
      ['acknowledgeRun', `/runs/${ID}/acknowledge`],
      ['resolveRun', `/runs/${ID}/resolve`],
      ['markRun', `/runs/${ID}/feedback`],
      ['rerun', `/runs/${ID}/rerun`],
      ['markStep', `/runs/${ID}/steps/it's/feedback`],
      ['rerun', `/runs/${ID}/rerun`],
    ],
  ],
  [`/ui/runs/${ID}`, run({ status: 'running', steps: [] }), [['cancelRun', `/runs/${ID}/cancel`]]],
  ['/ui/approvals', { approvals: [asked] }, [['decideApproval', `/approvals/${asked.id}`]]],
  ['/ui/pipelines', loaded, [['reload', '/reload']]],
  ['/ui/pipelines/host-load', loaded, [['suspendPipeline', '/pipelines/host-load/suspend']]],
  ['/ui/replays/new?step=triage', {}, [['startReplay', '/steps/triage/replay/start']]],
])('the commands of %s are requests that the API takes', async (url, world, expected) => {
  const { get } = await pagesWith(world);
  expect(commandsOn((await get(url)).body)).toEqual(expected);
});

test('the command of a bulk action names the chosen runs', async () => {
  const { post } = await pagesWith({ lines: [runLine({ id: ID })], details: [runDetail({ id: ID })] });
  const { body } = await post('/ui/runs/bulk', { _csrf: VIEWER.csrf, action: 'resolve', run: ID });
  expect(commandsOn(body)).toEqual([['actOnRuns', '/runs/bulk']]);
  expect(decoded(body)).toContain(`"run_ids":["${ID}"]`);
});

test('a viewer, who may do nothing, is shown no command', async () => {
  const { get } = await pagesWith({
    ...run({ status: 'escalated', attention: 'open' }),
    viewer: { ...VIEWER, role: 'viewer' },
  });
  expect((await get(`/ui/runs/${ID}`)).body).not.toContain('Copy as curl');
});
