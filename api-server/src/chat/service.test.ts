import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { loadConfig } from '../config/load.ts';
import { createPipelineEnv } from '../config/pipeline-env.ts';
import { readFailpoints } from '../boot/failpoints.ts';
import { createLogs } from '../observability/logger.ts';
import { createService, type Service } from '../boot/service.ts';
import { APP_TOKEN, fakeSlack, type FakeSlack, SLACK_CHANNEL } from './fixtures/fake-slack.ts';

const PIPELINE = `
name: restart
stage: production
steps:
  - {name: approve, executor: human, timeout_seconds: 600, prompt_template: "Restart {{metadata.service}}?"}
  - {name: after, executor: pipeline, pipeline: done, when: steps.approve.status == "completed"}
`;
const DONE = 'name: done\nsteps: [{name: nothing, executor: webhook, url: "http://127.0.0.1:1/", when: "false"}]\n';

let dir: string;
let slack: FakeSlack;
let service: Service;
let address: string;

beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), 'chat-service-'));
  slack = await fakeSlack();
  mkdirSync(join(dir, 'pipelines'));
  writeFileSync(join(dir, 'pipelines', 'restart.yaml'), PIPELINE);
  writeFileSync(join(dir, 'pipelines', 'done.yaml'), DONE);
  const file = join(dir, 'config.yaml');
  writeFileSync(
    file,
    `server: {host: 127.0.0.1, port: 0}
pipeline_config_dir: pipelines
database: {url: "sqlite:test.db"}
auth: {tokens: [{name: hook, token: hook-secret, role: webhook, team: payments}, {name: boss, token: boss-secret, role: admin}]}
notifications:
  slack: {api_url: "${slack.url}", bot_token: xoxb-1, app_token: ${APP_TOKEN}, channel: "C0000000000"}
  routes:
    payments: {channel: slack, config: {channel: ${SLACK_CHANNEL.id}}}
    default: {channel: log}
`,
  );
  const loaded = loadConfig(file, {});
  if (!loaded.ok) throw new Error(loaded.message);
  const { config } = loaded;
  service = await createService({
    config,
    version: 'test',
    logs: createLogs(config.logging, new Writable({ write: (_chunk, _, done) => done() })),
    failpoints: readFailpoints(undefined),
    pipelineEnv: createPipelineEnv([], {}),
  });
  address = await service.listen();
});
afterEach(async () => {
  await service.close();
  await slack.close();
  rmSync(dir, { recursive: true });
});

interface Answer {
  run_id: string;
  status: string;
  steps: { step_name: string; status: string; primary_confidence: number | null }[];
  rows: { actor: string; actor_kind: string; action: string; outcome: string }[];
}

async function ask(path: string, token: string, body?: object): Promise<Answer> {
  const response = await fetch(`${address}${path}`, {
    method: body ? 'POST' : 'GET',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  });
  return (await response.json()) as Answer;
}

const sent = (path: string) => slack.calls.filter((call) => call.path === path);
const question = () =>
  sent('/chat.postMessage')[0]?.body as { channel: string; blocks: { elements: { value: string }[] }[] };

test.each([
  ['approve', 'completed', 1, 'approved'],
  ['reject', 'aborted', 0, 'rejected'],
])(
  "a team's question goes out through its channel, a button there answers it: %s ends the run as %s",
  async (...row) => {
    const [word, status, confidence, decision] = row;
    const delivery = { pipeline: 'restart', summary: 'it hangs', data: { service: 'checkout' } };
    const { run_id: id } = await ask('/webhook?source=generic', 'hook-secret', delivery);
    await expect.poll(() => sent('/chat.postMessage').length).toBe(1);
    await expect.poll(() => slack.connections()).toBe(1);
    expect(question().channel).toBe(SLACK_CHANNEL.id);
    expect(JSON.stringify(question())).toContain('Restart checkout?');
    const button = question().blocks[1]?.elements.find(({ value }) => value.startsWith(word));
    const envelope = slack.press(button?.value ?? '');

    await expect.poll(async () => (await ask(`/runs/${id}`, 'boss-secret')).status).toBe(status);
    await expect.poll(() => slack.acks).toEqual([envelope]);
    const { steps } = await ask(`/runs/${id}`, 'boss-secret');
    expect(steps[0]).toMatchObject({ step_name: 'approve', primary_confidence: confidence });
    const { rows } = await ask('/audit?target_type=approval', 'boss-secret');
    expect(rows).toMatchObject([{ actor: 'slack:U0ADA', actor_kind: 'chat', outcome: decision }]);
    // The message loses its buttons and says who decided.
    await expect.poll(() => sent('/chat.update').length).toBe(1);
    expect(JSON.stringify(sent('/chat.update')[0]?.body)).toContain('<@U0ADA>');
    const metrics = await (await fetch(`${address}/metrics`)).text();
    expect(metrics).toContain(
      `service_human_approval_decisions_total{team="payments",pipeline="restart",decision="${decision}"} 1`,
    );
  },
);
