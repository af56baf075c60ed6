import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { readCounters } from '../../store/db/counters.ts';
import { readEvents } from '../../store/tables/bodies/run-bodies.ts';
import { markRun } from '../../store/tables/feedback.ts';
import { createWorld, sure, type Script, type World, type WorldOptions } from '../fixtures/engine.ts';

let world: World;
const make = async (options: WorldOptions) => (world = await createWorld({ egressAllow: ['127.0.0.1'], ...options }));
afterEach(() => world.close());

const seen: { url: string; body: string; headers: Record<string, unknown> }[] = [];
let server: Server;
let base: string;
beforeAll(async () => {
  server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => (body += chunk));
    request.on('end', () => {
      seen.push({ url: request.url ?? '', body, headers: request.headers });
      const status = Number(/status=(\d+)/.exec(request.url ?? '')?.[1] ?? 200);
      response
        .writeHead(status, { 'content-type': 'application/json' })
        .end('{"state":"firing","secret":"s3cret-value"}');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => server.close());

const text = (more: string) =>
  `name: p\nstage: production\nsteps:\n  - name: look\n    executor: gateway\n    agent: look\n    prompt_template: "Task {{labels.service}}"\n${more}`;
const down: Script = () => ({ ok: false, type: 'unavailable', message: 'down', retryable: true });

test.each<[string, string, Script, number, string]>([
  ['minimum takes the lower one', 'mode: critic', () => sure(0.6), 0.6, 'escalated'],
  ['a surer verifier raises nothing', 'mode: critic', () => sure(0.99), 0.9, 'completed'],
  ['veto above the floor changes nothing', 'combination_strategy: veto', () => sure(0.55), 0.9, 'completed'],
  ['veto below the floor takes over', 'combination_strategy: veto', () => sure(0.2), 0.2, 'escalated'],
  ['a failing verifier is an event and no more', 'mode: critic', down, 0.9, 'completed'],
])('verifier: %s', async (_, key, reviewer, effective, status) => {
  await make({
    pipelines: [text(`    verifier: {agent: reviewer, ${key}}\n`)],
    agents: { look: () => sure(0.9), reviewer },
  });
  const run = await world.run('p');
  expect(run.step('look')).toMatchObject({ primaryConfidence: 0.9, effectiveConfidence: effective });
  expect(run.run.status).toBe(status);
  expect(run.events).toContain('verifier_ran');
});

test('a critic sees the answer, an independent verifier gets the task alone', async () => {
  await make({
    pipelines: [text('    verifier: {agent: reviewer, mode: critic}\n')],
    agents: { look: () => sure(0.9, { cause: 'disk' }), reviewer: () => sure(0.9) },
  });
  await world.run('p');
  expect(world.calls[1]?.input).toContain('"cause": "disk"');
  await world.close();
  await make({
    pipelines: [text('    verifier: {agent: reviewer, mode: independent}\n')],
    agents: { look: () => sure(0.9), reviewer: () => sure(0.9) },
  });
  await world.run('p');
  expect(world.calls[1]?.input).toBe('Task checkout');
});

test('a conditional verifier is asked only where its condition holds', async () => {
  await make({
    pipelines: [text('    verifier: {agent: reviewer, when: confidence < 0.8}\n')],
    agents: { look: () => sure(0.9), reviewer: () => sure(0.1) },
  });
  expect((await world.run('p')).step('look').verifierConfidence).toBeNull();
  expect(world.calls).toHaveLength(1);
});

test.each([
  [false, 'completed', 0.9],
  [true, 'escalated', 0.3],
])('grounding with enforce: %s', async (enforce, status, trust) => {
  await make({
    pipelines: [text(`    grounding: {agent: judge, enforce: ${enforce}}\n`)],
    agents: { look: () => sure(0.9), judge: () => sure(1, { score: 0.3 }) },
  });
  const run = await world.run('p');
  expect(run.step('look')).toMatchObject({ groundingScore: 0.3, trustReport: { trust } });
  expect(run.run.status).toBe(status);
});

test('a judge that fails leaves the score empty and the run alone', async () => {
  await make({
    pipelines: [text('    grounding: {agent: judge, enforce: true}\n')],
    agents: { look: () => sure(0.9), judge: down },
  });
  const run = await world.run('p');
  expect(run.step('look').groundingScore).toBeNull();
  expect(run.run.status).toBe('completed');
});

test('a webhook check that holds leaves trust as it is, one that does not makes it 0', async () => {
  const check = (expect_: string) =>
    `    deterministic_checks: [{type: webhook, name: firing, url: "${base}/{{labels.service}}", expect: '${expect_}'}]\n`;
  await make({
    pipelines: [text(check('response.status == 200 && response.body.state == "firing"'))],
    agents: { look: () => sure(0.9) },
  });
  const good = await world.run('p');
  expect(good.step('look')).toMatchObject({
    deterministicPassed: true,
    checks: [{ name: 'firing', passed: true }],
    trustReport: { trust: 0.9 },
  });
  await world.close();
  await make({ pipelines: [text(check('response.body.state == "resolved"'))], agents: { look: () => sure(0.9) } });
  const bad = await world.run('p');
  expect(bad.step('look')).toMatchObject({ deterministicPassed: false, trustReport: { trust: 0 } });
  expect(bad.run.status).toBe('escalated');
});

/** An agent answers in time, and the time is over while a second agent thinks. */
async function makeLate(time: { step?: number; run?: number }) {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const reviewer: Script = ({ signal }) => {
    vi.advanceTimersByTime(1_000);
    return signal.aborted ? { ok: false, type: 'cancelled', message: 'stopped', retryable: false } : sure(0.1);
  };
  const check = `{type: webhook, name: reachable, url: "${base}/", expect: 'response.status == 200'}`;
  const evidence = `    verifier: {agent: reviewer}\n    deterministic_checks: [${check}]\n`;
  const step = time.step === undefined ? '' : `    timeout_seconds: ${time.step}\n`;
  const run = time.run === undefined ? '' : `timeout_seconds: ${time.run}\n`;
  await make({ pipelines: [run + text(step + evidence)], agents: { look: () => sure(0.9), reviewer } });
}

test('who answers just before the time of its step is over is verified and checked as everybody is', async () => {
  await makeLate({ step: 1 });
  const { step, run } = await world.run('p');
  expect(step('look')).toMatchObject({ verifierConfidence: 0.1, effectiveConfidence: 0.1, deterministicPassed: true });
  expect(run.status).toBe('escalated');
});

test('a check that the end of the run stopped is no failed one, and what was to be checked has not passed', async () => {
  await makeLate({ run: 1 });
  const { step, run } = await world.run('p');
  expect(step('look')).toMatchObject({ status: 'failed', error: { type: 'timeout' }, deterministicPassed: null });
  expect(run.status).toBe('failed');
  expect(await world.database.db.selectFrom('run_labels').select('outcome').execute()).toEqual([]);
});

test('one failed check of two makes the trust 0', async () => {
  const check = (name: string, status: number) =>
    `{type: webhook, name: ${name}, url: "${base}/", expect: 'response.status == ${status}'}`;
  const checks = `    deterministic_checks: [${check('good', 200)}, ${check('bad', 500)}]\n`;
  await make({ pipelines: [text(checks)], agents: { look: () => sure(0.9) } });
  const run = await world.run('p');
  expect(run.step('look')).toMatchObject({ deterministicPassed: false, trustReport: { trust: 0 } });
});

test('a missing value in expect fails the check', async () => {
  await make({
    pipelines: [
      text(
        `    deterministic_checks: [{type: webhook, name: c, url: "${base}/", expect: 'response.body.nothing == 1'}]\n`,
      ),
    ],
    agents: { look: () => sure(0.9) },
  });
  expect((await world.run('p')).step('look').deterministicPassed).toBe(false);
});

test('a shell check gets values through its environment only', async () => {
  const checks = `    deterministic_checks: [{type: shell, name: sh, run: 'test "$TICKET" = "7; echo pwned" && test -z "$HOME"', env: {TICKET: "{{output.ticket}}"}}]\n`;
  await make({
    pipelines: [text(checks)],
    agents: { look: () => sure(0.9, { ticket: '7; echo pwned' }) },
    allowShell: true,
  });
  expect((await world.run('p')).step('look').checks).toMatchObject([{ name: 'sh', passed: true }]);
});

test('a secret that a shell check prints is hidden before its words are cut', async () => {
  const run = `printf "%0197d" 0 >&2; echo s3cret-value >&2`;
  const checks = `    deterministic_checks: [{type: shell, name: sh, run: '${run}'}]\n`;
  await make({ pipelines: [text(checks)], agents: { look: () => sure(0.9) }, allowShell: true });
  const [check] = (await world.run('p')).step('look').checks ?? [];
  expect(check?.detail).toContain(`${'0'.repeat(197)}***…`);
});

test('a shell check that takes too long is killed with its children and has failed', async () => {
  const checks = `    deterministic_checks: [{type: shell, name: sh, run: 'sleep 60 & sleep 60', timeout_seconds: 1}]\n`;
  await make({ pipelines: [text(checks)], agents: { look: () => sure(0.9) }, allowShell: true });
  expect((await world.run('p')).step('look').checks).toMatchObject([{ passed: false, detail: 'no result within 1 s' }]);
});

test('a shell check where none is allowed aborts the run', async () => {
  await make({
    pipelines: [text(`    deterministic_checks: [{type: shell, name: sh, run: 'true'}]\n`)],
    agents: { look: () => sure(0.9) },
  });
  expect((await world.run('p')).run).toMatchObject({ status: 'aborted' });
});

test('an enforced calibration escalates without evidence, proceeds when told so, and takes the measured mean with it', async () => {
  const rule = (more = '') => text(`    calibration: {enforce: true${more}}\n`);
  await make({
    pipelines: [rule(), rule(', on_uncalibrated: proceed').replace('name: p', 'name: q')],
    agents: { look: () => sure(0.9) },
  });
  const escalated = await world.run('p');
  expect(escalated.run.status).toBe('escalated');
  const proceeded = await world.run('q');
  expect(proceeded.run).toMatchObject({ status: 'completed', trust: 0.9 });
  for (const runId of [escalated.run.id, proceeded.run.id]) {
    await world.database.write((tx) =>
      markRun(tx, { runId, outcome: 'partial', notes: null, submittedAt: 1, submittedBy: 'ann' }),
    );
  }
  const measured = await world.run('p');
  expect(measured.step('look').trustReport).toMatchObject({ trust: 0.5, passed: false });
});

test("a webhook step sends its rendered payload with the operator's values, which are masked in what is kept", async () => {
  const steps = `name: p\nsteps:\n  - {name: close, executor: webhook, url: "${base}/t/{{summary}}", headers: {X-Key: "\${ALLOWED}"}, payload: {id: "{{labels.service}}", nested: ["{{severity}}"]}}\n`;
  await make({ pipelines: [steps], agents: {} });
  const run = await world.run('p');
  const request = seen.at(-1);
  expect(request).toMatchObject({
    url: '/t/the%20checkout%20is%20slow',
    body: '{"id":"checkout","nested":["critical"]}',
  });
  expect(request?.headers).toMatchObject({ 'x-key': 's3cret-value' });
  expect(run.step('close')).toMatchObject({
    status: 'completed',
    primaryConfidence: null,
    output: { status: 200, body: { state: 'firing', secret: '***' } },
  });
});

test('a name that the operator did not list fails the step, and so does a private address', async () => {
  const steps = (url: string) => `name: p\nsteps:\n  - {name: close, executor: webhook, url: "${url}"}\n`;
  await make({ pipelines: [steps(`${base}/\${HOME}`)], agents: {} });
  expect((await world.run('p')).step('close').error).toEqual({
    type: 'env_not_allowed',
    message: 'url: ${HOME} is not listed in security.pipeline_env',
  });
  await world.close();
  await make({ pipelines: [steps('http://169.254.169.254/latest')], agents: {}, egressAllow: [] });
  expect((await world.run('p')).step('close').error?.type).toBe('egress_refused');
});

const LARGE = 'x'.repeat(600_000);

test.each([
  [
    'payload: {a: [{text: "{{summary}} and {{metadata.more}}"}]}',
    'payload.a[0].text: the rendered text is larger than 1 MiB, at {{metadata.more}}',
  ],
  [
    'headers: {X-All: "{{#each metadata.list}}{{#each ../metadata.list}}{{/each}}{{/each}}"}',
    'headers.X-All: the template repeats more than 100000 times, at {{#each ../metadata.list}}',
  ],
])('a template that fails names its key and its expression: %s', async (own, message) => {
  const list = Array.from({ length: 400 }, () => 1);
  await make({
    pipelines: [`name: p\nsteps:\n  - {name: close, executor: webhook, url: "${base}/x", method: POST, ${own}}\n`],
    agents: {},
  });
  const run = await world.run('p', { summary: LARGE, metadata: { more: LARGE, list } });
  expect(run.step('close').error).toEqual({ type: 'template_failed', message });
});

test('a second opinion whose own prompt or condition fails says so, and is asked all the same', async () => {
  const verifier = `    verifier: {agent: reviewer, when: 'summary > 3', prompt_template: "{{metadata.more}}{{metadata.more}}"}\n`;
  await make({ pipelines: [text(verifier)], agents: { look: () => sure(0.9), reviewer: () => sure(0.8) } });
  const { run, events } = await world.run('p', { metadata: { more: LARGE } });
  expect(run.status).toBe('completed');
  expect(events).toEqual(expect.arrayContaining(['expression_failed', 'template_failed', 'verifier_ran']));
  const [asked] = world.calls.filter(({ agent }) => agent === 'reviewer');
  expect(asked?.input).toBe('Task checkout');
  const noted = await readEvents(world.database.db, run.id, 0);
  expect(noted.flatMap(({ event, msg }) => (event.endsWith('_failed') ? [msg] : []))).toEqual([
    'verifier.when: a string > an integer has no meaning, in summary > 3; the verifier is asked',
    'verifier.prompt_template: the rendered text is larger than 1 MiB, at {{metadata.more}}; the built-in prompt is used',
  ]);
});

test.each(['verifier: {mode: critic, ', 'grounding: {'])('what %s} sends has the bounds of a prompt', async (part) => {
  const own = `    ${part}agent: second, prompt_template: "{{metadata.more}}"}\n`;
  const answer = sure(0.9, { text: LARGE });
  await make({ pipelines: [text(own)], agents: { look: () => answer, second: () => sure(0.8, { score: 1 }) } });
  const { run, step } = await world.run('p', { metadata: { more: LARGE } });
  const noted = await readEvents(world.database.db, run.id, 0);
  const name = part.split(':')[0];
  expect(noted.flatMap(({ event, msg }) => (event === 'template_failed' ? [msg] : []))).toEqual([
    `${name}.prompt_template: the rendered prompt is larger than 262144 bytes; the built-in prompt is used`,
  ]);
  const { input = '' } = world.calls.find(({ agent }) => agent === 'second') ?? {};
  expect(input).toMatch(
    /Task checkout\n\nIt answered:\n\n\{\n {2}"summary": "looked",\n {2}"text": "x+… \[cut from 6\d+ bytes\]\n\n/,
  );
  expect(input.length).toBeLessThan(140_000);
  expect(step('look').status).toBe('completed');
});

test('a prompt that is too large names the value that makes it so', async () => {
  await make({ pipelines: [text('').replace('{{labels.service}}', '{{severity}} {{metadata.more}}')], agents: {} });
  const { error } = (await world.run('p', { metadata: { more: LARGE } })).step('look');
  expect(error).toEqual({
    type: 'template_failed',
    message:
      'prompt_template: the rendered prompt is larger than 262144 bytes; most of it is {{metadata.more}}, 600000 characters',
  });
});

test("an author's content type takes the place of ours in a check's request", async () => {
  const headers = 'headers: {Content-Type: text/plain}, method: POST, payload: hi';
  const check = `    deterministic_checks: [{type: webhook, name: c, url: "${base}/typed", ${headers}}]\n`;
  await make({ pipelines: [text(check)], agents: { look: () => sure(0.9) } });
  expect((await world.run('p')).step('look').deterministicPassed).toBe(true);
  expect(seen.at(-1)).toMatchObject({ url: '/typed', headers: { 'content-type': 'text/plain' } });
});

test('on_failure.webhook is called once when a step has failed', async () => {
  const before = seen.length;
  await make({
    pipelines: [text(`    on_failure: {policy: continue, webhook: {url: "${base}/ops"}}\n`)],
    agents: { look: down },
  });
  const run = await world.run('p');
  expect(run.run.status).toBe('completed');
  expect(seen.slice(before).map(({ url }) => url)).toEqual(['/ops']);
  expect(JSON.parse(seen.at(-1)?.body ?? '{}')).toMatchObject({ step_name: 'look', error: { type: 'unavailable' } });
});

test('what went wrong reaches on_failure.webhook to the letter, whatever it looks like', async () => {
  const message = 'see {{labels.service}}, ${ALLOWED} and ${HOME}';
  await make({
    pipelines: [text(`    on_failure: {policy: continue, webhook: {url: "${base}/letter"}}\n`)],
    agents: { look: () => ({ ok: false, type: 'broken', message, retryable: false }) },
  });
  await world.run('p');
  expect(seen.at(-1)?.url).toBe('/letter');
  expect(JSON.parse(seen.at(-1)?.body ?? '{}')).toMatchObject({ error: { type: 'broken', message } });
});

test('a group that fails calls its on_failure.webhook too', async () => {
  const branch = (name: string) => `{name: ${name}, executor: gateway, agent: look, prompt_template: x}`;
  const hook = `on_failure: {policy: continue, webhook: {url: "${base}/group"}}`;
  const parallel = `name: p\nsteps:\n  - {name: both, parallel: {steps: [${branch('l')}, ${branch('r')}]}, ${hook}}\n`;
  const item = '{executor: gateway, agent: look, prompt_template: x}';
  const fanOut = `name: q\nsteps:\n  - {name: each, fan_out: {over: summary, step: ${item}}, ${hook}}\n`;
  await make({ pipelines: [parallel, fanOut], agents: { look: down } });
  for (const [pipeline, step, type] of [
    ['p', 'both', 'branch'],
    ['q', 'each', 'fan_out_failed'],
  ]) {
    const before = seen.length;
    expect((await world.run(pipeline ?? '')).run.status).toBe('completed');
    expect(seen.slice(before).map(({ url }) => url)).toEqual(['/group']);
    expect(JSON.parse(seen.at(-1)?.body ?? '{}')).toMatchObject({ step_name: step, error: { type } });
  }
});

test('a value that a request names and that is not there is rendered as nothing, and noted', async () => {
  const payload = '{id: "{{steps.nobody.output.id}}", at: "{{labels.nowhere}}"}';
  await make({
    pipelines: [`name: p\nsteps:\n  - {name: close, executor: webhook, url: "${base}/gone", payload: ${payload}}\n`],
    agents: {},
  });
  const { run, events } = await world.run('p');
  expect([run.status, seen.at(-1)?.body]).toEqual(['completed', '{"id":"","at":""}']);
  expect(events.filter((event) => event === 'template_missing_value')).toHaveLength(2);
});

test('what a production step leaves in the metrics: its end, time, tokens, verifier, grounding and checks', async () => {
  const more = `    model: p/asked
    verifier: {agent: reviewer}
    grounding: {agent: judge}
    deterministic_checks: [{type: webhook, name: c, url: "${base}/", expect: 'false'}]
`;
  // The step takes no time, however long it takes.
  vi.useFakeTimers({ toFake: ['Date'] });
  onTestFinished(() => void vi.useRealTimers());
  await make({
    pipelines: [text(more)],
    agents: { look: () => sure(0.9), reviewer: () => sure(0.6), judge: () => sure(1, { score: 0.35 }) },
  });
  expect((await world.run('p')).run.status).toBe('escalated');
  const who = ['p', 'look', 'gateway', 'look', 'm', 'p'];
  const asked = ['p', 'look', 'look', 'm', 'p'];
  const counters = await readCounters(world.database.db);
  const counted = Object.fromEntries(
    counters.map(({ metric, labels, value }) => [`${metric} ${labels.join()}`, value]),
  );
  expect(counted).toMatchObject({
    'pipeline_runs_total p,escalated': 1,
    [`pipeline_steps_total ${[...who, 'escalated'].join()}`]: 1,
    [`pipeline_step_duration_seconds ${[...who, '1'].join()}`]: 1,
    [`pipeline_tokens_total ${['payments', ...who, 'input'].join()}`]: 10,
    [`pipeline_tokens_total ${['payments', ...who, 'output'].join()}`]: 5,
    'verifier_runs_total reviewer': 1,
    'verifier_overrides_total reviewer': 1,
    [`step_grounding_score ${[...asked, '0.4'].join()}`]: 1,
    [`step_grounding_score_sum ${asked.join()}`]: 0.35,
    'step_deterministic_check_total p,look,failed': 1,
  });
});

const LONG = 'é'.repeat(400_000);

test('of what a verifier and a grounding judge say, and of the answers of earlier iterations, a step keeps the beginning', async () => {
  const loop = '    loop_until: {confidence: 0.9, max_iterations: 3}\n';
  const opinions = '    verifier: {agent: second, when: "true"}\n    grounding: {executor: gateway, agent: judge}\n';
  await make({
    pipelines: [text(loop + opinions)],
    agents: {
      look: () => sure(0.8, { summary: LONG }),
      second: () => sure(0.9, { summary: LONG }),
      judge: () => sure(0.9, { summary: LONG, score: 0.9 }),
    },
  });
  const { run, step } = await world.run('p');
  expect(run.status).toBe('completed');
  const { verifier, grounding, iterationsBefore = [] } = step('look').rawResponse ?? {};
  const kept = [verifier, grounding, ...iterationsBefore].map((said) => said?.summary ?? '');
  expect(kept.map((text) => Buffer.byteLength(text) <= 4096 && text.includes('cut from 800000 bytes'))).toEqual([
    true,
    true,
    true,
    true,
  ]);
});
