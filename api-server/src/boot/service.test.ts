import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { expect, onTestFinished, test } from 'vitest';
import { loadConfig } from '../config/load.ts';
import { createPipelineEnv } from '../config/pipeline-env.ts';
import { readFailpoints } from './failpoints.ts';
import { createLogs } from '../observability/logger.ts';
import { createService } from './service.ts';

interface Line {
  level: string;
  msg: string;
  file?: string;
  line?: number;
  severity?: string;
  key?: string;
}

/** A service made of this configuration and these pipelines, and what it logged until it was there. */
async function start(
  config: string,
  pipelines: Record<string, string> | null,
): Promise<{ lines: Line[]; url: string; linesNow: () => Line[] }> {
  const dir = mkdtempSync(join(tmpdir(), 'signalbox-service-'));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  mkdirSync(join(dir, 'pipelines'));
  for (const [name, text] of Object.entries(pipelines ?? {})) writeFileSync(join(dir, 'pipelines', name), text);
  const file = join(dir, 'config.yaml');
  const common =
    'server: {host: 127.0.0.1, port: 0}\ndatabase: {url: "sqlite:test.db"}\nauth: {tokens: [{name: boss, token: boss-secret, role: admin}]}\n';
  const folder = pipelines === null ? '' : 'pipeline_config_dir: pipelines\n';
  writeFileSync(file, common + folder + config);
  const loaded = loadConfig(file, {});
  if (!loaded.ok) throw new Error(loaded.message);
  let output = '';
  const out = new Writable({ write: (chunk: Buffer, _, done) => ((output += chunk.toString()), done()) });
  const service = await createService({
    config: loaded.config,
    version: 'test',
    logs: createLogs(loaded.config.logging, out),
    failpoints: readFailpoints(undefined),
    pipelineEnv: createPipelineEnv([], {}),
  });
  onTestFinished(() => service.close());
  const url = await service.listen();
  const linesNow = () => output.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as Line]));
  return { lines: linesNow(), url, linesNow };
}

const asking = (more: string, head = '') =>
  `name: p\n${head}steps:\n  - {name: a, executor: gateway, agent: a, prompt_template: x${more}}\n`;
const SHELL = ', deterministic_checks: [{type: shell, name: s, run: "true"}]';
const warnings = (lines: Line[]) => lines.filter(({ msg }) => msg.startsWith('definition: ')).map(({ msg }) => msg);

test('the service starts with a definition that is large enough for a thread', async () => {
  const keys = Array.from({ length: 600 }, (_, at) => `key${at}: {type: string}`).join(', ');
  const { lines } = await start('', { 'p.yaml': asking(`, output_schema: {properties: {${keys}}}`) });
  expect(warnings(lines)).toEqual([]);
});

test('a shell check on disk that may not run is a warning at the start, with its place; where it may, it is none', async () => {
  const { lines } = await start('', { 'p.yaml': asking(SHELL) });
  expect(lines).toContainEqual(
    expect.objectContaining({
      msg: expect.stringMatching(/^definition: .*shell/),
      file: expect.stringMatching(/p\.yaml$/),
      line: 3,
    }),
  );
  const allowed = await start('security: {allow_shell_checks: true}\n', { 'p.yaml': asking(SHELL) });
  expect(warnings(allowed.lines)).toEqual([]);
});

test('a budget of money without prices is a warning at the start, with prices it is none', async () => {
  const pipeline = { 'p.yaml': asking('', 'budget: {max_cost: 2}\n') };
  expect(warnings((await start('', pipeline)).lines)).toEqual([
    'definition: budget.max_cost: max_cost has no effect: the service has no pricing.models',
  ]);
  const models = 'models: [{match: {provider: a, model: b}, input_per_mtok: 1, output_per_mtok: 2}]';
  expect(warnings((await start(`pricing: {${models}}\n`, pipeline)).lines)).toEqual([]);
});

test('a window of deduplication is a warning while the service has none, unless the pipeline switches it on', async () => {
  const dedup = (more: string) => ({
    'p.yaml': asking('', `trigger: {match: {}, dedup: {window_seconds: 60${more}}}\n`),
  });
  expect(warnings((await start('', dedup(''))).lines)).toEqual([
    'definition: trigger.dedup.window_seconds: window_seconds has no effect: the service has no dedup, and enabled is not set here',
  ]);
  for (const more of [', enabled: true', ', enabled: false'])
    expect(warnings((await start('', dedup(more))).lines)).toEqual([]);
  expect(warnings((await start('dedup: {}\n', dedup(''))).lines)).toEqual([]);
});

test('a line of the log names the key and the file from the folder of the configuration, and so do the answers', async () => {
  const late = 'name: q\nsteps:\n  - {name: a, executor: human, prompt_template: "{{sumary}}"}\n';
  const twice = asking(', when: "steps.zzz.trust > 0.5"');
  const { lines, url } = await start('', { 'p.yaml': twice, 'p2.yaml': twice, 'q.yaml': late });
  const said = lines.filter(({ msg }) => msg.startsWith('definition: '));
  expect(said.map(({ severity, file, key, msg }) => ({ severity, file, key, msg }))).toEqual([
    {
      severity: 'error',
      file: 'pipelines/p2.yaml',
      key: 'name',
      msg: 'definition: name: "p" is already defined in pipelines/p.yaml',
    },
    {
      severity: 'error',
      file: 'pipelines/q.yaml',
      key: 'steps.0.timeout_seconds',
      msg: 'definition: steps.0.timeout_seconds: is required',
    },
    {
      severity: 'warning',
      file: 'pipelines/p.yaml',
      key: 'steps.0.when',
      msg: 'definition: steps.0.when: steps.zzz.trust: there is no step "zzz"',
    },
  ]);
  const headers = { authorization: 'Bearer boss-secret' };
  const loaded = await (await fetch(`${url}/definitions`, { headers })).text();
  const reloaded = await (await fetch(`${url}/reload`, { method: 'POST', headers })).json();
  expect(reloaded).toMatchObject({ warnings: [{ file: 'pipelines/p.yaml', loc: ['steps', 0, 'when'] }] });
  expect(JSON.parse(loaded)).toMatchObject({ warnings: [{ file: 'pipelines/p.yaml', loc: ['steps', 0, 'when'] }] });
  expect(loaded + JSON.stringify(reloaded)).not.toContain(tmpdir());
});

test('of the many problems of a file the log and the answers name the first', async () => {
  const prompt = Array.from({ length: 30 }, (_, at) => `{{steps.none${at}.summary}}`).join(' ');
  const text = `name: p\nsteps:\n  - {name: a, executor: human, timeout_seconds: 60, prompt_template: "${prompt}"}\n`;
  const { lines, url } = await start('', { 'p.yaml': text });
  const headers = { authorization: 'Bearer boss-secret' };
  const read = async (path: string, method: string) =>
    ((await (await fetch(`${url}${path}`, { method, headers })).json()) as { warnings: { msg: string }[] }).warnings;
  const lists = [lines.filter(({ msg }) => msg.startsWith('definition: '))];
  for (const list of [...lists, await read('/definitions', 'GET'), await read('/reload', 'POST')]) {
    expect(list).toHaveLength(20);
    expect(list.at(-1)?.msg).toContain('there are more unknown names');
  }
});

test('a rule that asks for another person without a list of persons is a warning at the start and in /health', async () => {
  const notifications = 'notifications: {slack: {app_token: a, api_url: "http://127.0.0.1:9"}}\n';
  const { lines, url } = await start(`approvals: {not_the_starter: true}\n${notifications}`, {});
  const msg = expect.stringMatching('^approvals.not_the_starter without approvals.approvers: ');
  expect(lines).toContainEqual(expect.objectContaining({ level: 'warn', msg }));
  expect(await (await fetch(`${url}/health`)).json()).toMatchObject({ warnings: [msg] });
});

test('a service without pipelines says at the start that no run can begin, and where it looked', async () => {
  const warning = (lines: Line[]) => lines.filter(({ msg }) => msg.startsWith('no pipeline is loaded'));
  const empty = warning((await start('', {})).lines);
  expect(empty).toEqual([
    expect.objectContaining({ level: 'warn', pipeline_config_dir: expect.stringMatching(/pipelines$/) }),
  ]);
  expect(warning((await start('', null)).lines)).toEqual([
    expect.objectContaining({ pipeline_config_dir: null, managed_dir: null }),
  ]);
  expect(warning((await start('', { 'p.yaml': asking('') })).lines)).toEqual([]);
});

test('POST /reload logs what is wrong with the definitions, as a start does', async () => {
  const { url, linesNow } = await start('', { 'p.yaml': asking(SHELL) });
  await fetch(`${url}/reload`, { method: 'POST', headers: { authorization: 'Bearer boss-secret' } });
  expect(warnings(linesNow())).toHaveLength(2);
  expect(linesNow()).toContainEqual(expect.objectContaining({ msg: 'reloaded', pipelines: 1 }));
});

test('POST /reload says how many pipelines were loaded', async () => {
  const { url } = await start('', { 'p.yaml': asking(''), 'q.yaml': asking('').replace('name: p', 'name: q') });
  const answer = await fetch(`${url}/reload`, { method: 'POST', headers: { authorization: 'Bearer boss-secret' } });
  expect(await answer.json()).toMatchObject({ status: 'reloaded', pipelines_loaded: 2 });
});

test('GET /definitions tells the readiness verdict of every pipeline soon after the start', async () => {
  const { url } = await start('', {
    'p.yaml': asking('', 'readiness: {operational: {}}\n'),
    'q.yaml': asking('').replace('name: p', 'name: q'),
  });
  const verdicts = async () => {
    const answer = await fetch(`${url}/definitions`, { headers: { authorization: 'Bearer boss-secret' } });
    const { definitions } = (await answer.json()) as { definitions: { verdict: string | null }[] };
    return definitions.map(({ verdict }) => verdict);
  };
  await expect.poll(verdicts).toEqual(['no_data', 'not_configured']);
});
