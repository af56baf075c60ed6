import { mkdirSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { call } from '../../support/call.ts';
import { type LocalServices, startLocalServices } from '../../support/local-services.ts';
import { scratchDirectory } from '../../support/scratch.ts';
import { waitFor } from '../../support/wait-for.ts';
import { AGENTS, build, type Built, oneCase, PRICES, ROLES } from './cases.ts';
import { type HandedOut, type Role, roleOf, startScriptedModel } from './scripted-model.ts';

/** Cases at once, and how often. */
const AT_ONCE = 4;
const ROUNDS = 4;
const SEED = Number(process.env['USAGE_SEED'] ?? Date.now() % 1_000_000);

const undo: (() => Promise<unknown> | void)[] = [];
let model: Awaited<ReturnType<typeof startScriptedModel>>;
let services: LocalServices;

interface Attribute {
  key: string;
  value: { stringValue?: string; intValue?: string | number; doubleValue?: number };
}
interface Exported {
  resourceSpans: { scopeSpans: { spans: { traceId: string; name: string; attributes: Attribute[] }[] }[] }[];
}
/** What the spans of the model calls of each run say, and the run of each trace. */
const traced = new Map<string, { input: number; output: number; cached: number }>();
const runOfTrace = new Map<string, string>();

function collect(body: Exported): void {
  for (const { traceId, name, attributes } of body.resourceSpans.flatMap(({ scopeSpans }) =>
    scopeSpans.flatMap(({ spans }) => spans),
  )) {
    const of = (key: string) => attributes.find((one) => one.key === key)?.value;
    const count = (key: string) => Number(of(`gen_ai.usage.${key}`)?.intValue ?? 0);
    if (name.startsWith('pipeline.run:')) runOfTrace.set(traceId, of('service.run.id')?.stringValue ?? '');
    if (name !== 'gen_ai.gateway') continue;
    const sum = traced.get(traceId) ?? { input: 0, output: 0, cached: 0 };
    traced.set(traceId, {
      input: sum.input + count('input_tokens'),
      output: sum.output + count('output_tokens'),
      cached: sum.cached + count('cache_read.input_tokens'),
    });
  }
}

async function startCollector(): Promise<string> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      collect(JSON.parse(String(Buffer.concat(chunks))) as Exported);
      response.end('{}');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  undo.push(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

beforeAll(async () => {
  const scratch = scratchDirectory('usage-');
  undo.push(scratch.remove);
  model = await startScriptedModel();
  undo.push(model.close);
  const endpoint = await startCollector();
  const agents = join(scratch.path, 'agents');
  for (const [name, config] of Object.entries(AGENTS)) {
    mkdirSync(join(agents, name), { recursive: true });
    writeFileSync(join(agents, name, 'agent.yaml'), stringify({ name, ...config, limits: { max_iterations: 3 } }));
    writeFileSync(join(agents, name, 'soul.md'), 'You look.');
  }
  for (const folder of ['pipelines', 'steps']) mkdirSync(join(scratch.path, folder));
  services = await startLocalServices({
    dataDir: scratch.path,
    change: {
      gateway: (config) => {
        config.agents_dir = agents;
        config.providers = { fake: { type: 'openai_compatible', base_url: model.url, default: true } };
        config.mcp_servers = {};
        config.tool_policy = { default: 'allow' };
      },
      'api-server': (config) => {
        config.pipeline_config_dir = join(scratch.path, 'pipelines');
        config.step_library_dir = join(scratch.path, 'steps');
        config.concurrency.max_runs = 50;
        config.pricing = {
          models: PRICES.map(({ model: name, ...price }) => ({ match: { provider: 'fake', model: name }, ...price })),
        };
        config.observability = { otel: { enabled: true, endpoint } };
        delete config.replay;
      },
    },
  });
  undo.push(services.stop);
});
afterAll(async () => {
  for (let last = undo.pop(); last; last = undo.pop()) await last();
});

const ask = async <T>(path: string, body?: unknown): Promise<T> => {
  const { apiServer, tokens } = services;
  const answer = await call<T>(`${apiServer.url}${path}`, { token: tokens.admin, body });
  if (answer.status >= 300) throw new Error(`${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body;
};

/** The independent sum: what the model wrote down, at the prices of the table. */
interface Sum {
  calls: number;
  input: number;
  output: number;
  cached: number;
  cost: number;
  priced: boolean;
  unpriced: boolean;
}
const sumOf = (handedOut: readonly HandedOut[]): Sum => {
  const sum = { calls: 0, input: 0, output: 0, cached: 0, cost: 0, priced: false, unpriced: false };
  for (const { model: name, input, cached, output } of handedOut) {
    const price = PRICES.find((one) => one.model === name);
    sum.calls += 1;
    sum.input += input;
    sum.output += output;
    sum.cached += cached;
    if (!price) sum.unpriced = true;
    else {
      const { input_per_mtok: full, output_per_mtok: out, cached_input_per_mtok: less = full } = price;
      sum.priced = true;
      sum.cost += ((input - cached) * full + cached * less + output * out) / 1e6;
    }
  }
  return sum;
};
const spentOn = (id: string, steps: Built['own']): HandedOut[] =>
  model.handedOut.filter(({ of }) => steps.some(([name]) => of === `${id}/${name}`));

const cost = ({ priced, cost: known }: Sum) => (priced ? expect.closeTo(known, 9) : null);
const totalsOf = (sum: Sum) => ({ input_tokens: sum.input, output_tokens: sum.output, cost: cost(sum) });

interface Told {
  input_tokens: number | null;
  output_tokens: number | null;
  cost: number | null;
  unpriced_calls: number;
  cached_input_tokens?: number | null;
}
interface Run {
  completed_at: string | null;
  children: { id: string }[];
  totals: object;
  totals_with_sub_runs: object;
  steps: (Told & { step_name: string; usage: Record<Role, Told | null> | null })[];
}

const NOTHING: Told = { input_tokens: null, output_tokens: null, cost: null, unpriced_calls: 0 };
const shown = ({ input_tokens: input, output_tokens: output, cost: paid, unpriced_calls: calls }: Told) => [
  input ?? 0,
  output ?? 0,
  paid,
  calls > 0,
];
const summed = (sum: Sum) => [sum.input, sum.output, cost(sum), sum.unpriced];

function expectSteps(id: string, steps: Built['own'], run: Run): void {
  for (const [name] of steps) {
    const row = run.steps.find(({ step_name }) => step_name === name) ?? { ...NOTHING, usage: null };
    const mine = model.handedOut.filter(({ of }) => of === `${id}/${name}`);
    expect([name, ...shown(row)]).toEqual([name, ...summed(sumOf(mine))]);
    for (const role of ROLES) {
      const part = sumOf(mine.filter((one) => roleOf(one.model) === role));
      const used = row.usage?.[role] ?? NOTHING;
      expect([name, role, ...shown(used), used.cached_input_tokens ?? 0]).toEqual([
        name,
        role,
        ...summed(part),
        part.cached,
      ]);
    }
  }
}

let metrics = '';
/** The sum of a series over the labels that contain this text. */
const metric = (series: string, labels: string): number =>
  metrics
    .split('\n')
    .filter((line) => line.startsWith(`${series}{`) && line.includes(labels))
    .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0);

async function expectPipeline(pipeline: string, sum: Sum): Promise<void> {
  const stats = await ask<{ tokens: object; cost: { total: number | null } }>(`/pipelines/${pipeline}/stats`);
  expect([stats.tokens, stats.cost.total]).toEqual([
    { input: sum.input, output: sum.output, total: sum.input + sum.output },
    cost(sum),
  ]);
  const of = `pipeline="${pipeline}"`;
  expect(metric('service_pipeline_tokens_total', `${of},`) - sum.input - sum.output).toBe(0);
  expect(metric('service_pipeline_cached_input_tokens_total', `${of},`)).toBe(sum.cached);
  expect(metric('service_pipeline_cost_total', `${of},`)).toBeCloseTo(sum.cost, 9);
}

/** Groups have no tokens of their own. */
async function expectExported(pipeline: string, sum: Sum): Promise<void> {
  for (const kind of ['runs', 'steps']) {
    const headers = { authorization: `Bearer ${services.tokens.admin}` };
    const answer = await fetch(`${services.apiServer.url}/exports/${kind}?pipeline=${pipeline}`, { headers });
    const rows = (await answer.text())
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Told);
    const total = (pick: (row: Told) => number | null) => rows.reduce((all, row) => all + (pick(row) ?? 0), 0);
    const exported = [total((row) => row.input_tokens), total((row) => row.output_tokens), total((row) => row.cost)];
    expect([kind, ...exported]).toEqual([kind, sum.input, sum.output, expect.closeTo(sum.cost, 9)]);
  }
}

async function expectTraced(runId: string, { input, output, cached }: Sum): Promise<void> {
  const said = () => [...runOfTrace].filter(([, run]) => run === runId).map(([trace]) => traced.get(trace) ?? NO_CALL);
  await expect.poll(said).toEqual([{ input, output, cached }]);
}
const NO_CALL = { input: 0, output: 0, cached: 0 };

let cookie = '';
async function expectPage(runId: string, sum: Sum): Promise<void> {
  const { apiServer, tokens } = services;
  if (cookie === '') {
    const headers = { 'content-type': 'application/x-www-form-urlencoded', origin: apiServer.url };
    const answer = await call(`${apiServer.url}/ui/login`, { body: `token=${tokens.viewer}`, headers });
    cookie = answer.headers.get('set-cookie')?.split(';', 1)[0] ?? '';
  }
  const { body } = await call<string>(`${apiServer.url}/ui/runs/${runId}`, { headers: { cookie } });
  const [, said] = /title="([^"]* in[^"]* out)"/.exec(body) ?? [];
  const cached = sum.calls === 0 ? '' : ` (${sum.cached} cached)`;
  expect(said?.replaceAll('\u202F', '')).toBe(`${sum.input} in${cached}, ${sum.output} out`);
}

let cases = 0;
interface Started {
  id: string;
  built: Built;
  runId: string;
}

async function start(one: Parameters<typeof build>[1]): Promise<Started> {
  cases += 1;
  const id = `c${cases}`;
  const built = build(id, one);
  for (const [name, step] of [...built.own, ...built.sub])
    for (const role of ROLES) model.script(`${id}/${name}`, role, step.scripts[role]);
  for (const yaml of built.yaml) await ask('/pipelines', { yaml });
  const { run_id: runId } = await ask<{ run_id: string }>(`/pipelines/${id}/run`, { summary: 'count' });
  return { id, built, runId };
}

async function check({ id, built, runId }: Started): Promise<void> {
  const ended = async () => {
    const run = await ask<Run>(`/runs/${runId}`);
    return run.completed_at === null ? null : run;
  };
  const run = await waitFor(ended, { what: `the end of ${id}`, timeoutMs: 120_000 });
  metrics = await ask<string>('/metrics');
  const own = sumOf(spentOn(id, built.own));
  expectSteps(id, built.own, run);
  expect(run.totals).toMatchObject({ ...totalsOf(own), cached_input_tokens: own.calls === 0 ? null : own.cached });
  await expectPipeline(id, own);
  await expectTraced(runId, own);
  await expectPage(runId, own);
  await expectExported(id, own);
  if (built.sub.length === 0) return;
  const below = sumOf(spentOn(id, built.sub));
  const childId = run.children[0]?.id ?? '';
  const child = await ask<Run>(`/runs/${childId}`);
  expectSteps(id, built.sub, child);
  expect(run.totals_with_sub_runs).toMatchObject(totalsOf(sumOf(spentOn(id, [...built.own, ...built.sub]))));
  await expectPipeline(`${id}-sub`, below);
  await expectExported(`${id}-sub`, below);
  await expectTraced(childId, below);
}

test('every place says what the model handed out, to the token', async () => {
  console.log(`seed ${SEED}: USAGE_SEED=${SEED} repeats it`);
  await fc.assert(
    fc.asyncProperty(fc.array(oneCase, { minLength: AT_ONCE, maxLength: AT_ONCE }), async (some) => {
      const started = [];
      for (const one of some) started.push(await start(one));
      for (const one of started) await check(one);
    }),
    { numRuns: ROUNDS, seed: SEED, endOnFailure: true },
  );
  const all = sumOf(model.handedOut);
  const { body } = await call<string>(`${services.gateway.url}/metrics`);
  metrics = body;
  const counted = ['input', 'output', 'cached_input'].map((direction) =>
    metric('gateway_tokens_total', `direction="${direction}"`),
  );
  expect(counted).toEqual([all.input, all.output, all.cached]);
  expect(model.handedOut.filter(({ of }) => of === 'unknown')).toEqual([]);
});
