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
import { type FakeChat, fakeReceiver, fakeSlack, SLACK_TOKEN } from './fixtures/chats.ts';

const PIPELINE = (stage: string) => `
name: ${stage}
stage: ${stage}
notifications:
  fail:
    - {channel: webhook}
    - {channel: slack, config: {bot_token: "\${SLACK}"}, template: "{{pipeline_name}} {{run.status}}"}
steps: [{name: call, executor: webhook, url: "http://127.0.0.1:1/", timeout_seconds: 5}]
`;

const ASKING = `
name: asking
stage: production
steps: [{name: approve, executor: human, timeout_seconds: 600, prompt_template: "Restart {{labels.event}}?"}]
`;

let dir: string;
let slack: FakeChat;
let receiver: FakeChat;
let service: Service;
let address: string;
let output: string;

beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), 'notify-service-'));
  slack = await fakeSlack();
  receiver = await fakeReceiver();
  output = '';
  mkdirSync(join(dir, 'pipelines'));
  for (const stage of ['production', 'testing'])
    writeFileSync(join(dir, 'pipelines', `${stage}.yaml`), PIPELINE(stage));
  writeFileSync(join(dir, 'pipelines', 'asking.yaml'), ASKING);
  const file = join(dir, 'config.yaml');
  writeFileSync(
    file,
    `server: {host: 127.0.0.1, port: 0, public_url: "https://signalbox.example"}
pipeline_config_dir: pipelines
database: {url: "sqlite:test.db"}
auth: {tokens: [{name: op, token: op-secret, role: operator}]}
security: {pipeline_env: [SLACK]}
notifications:
  slack: {channel: "#alerts", api_url: "${slack.url}"}
  webhook: {url: "${receiver.url}/in"}
  routes: {default: {channel: slack, config: {bot_token: "\${SLACK}", channel: C0123456789}}}
`,
  );
  const environment = { SLACK: SLACK_TOKEN };
  const loaded = loadConfig(file, environment);
  if (!loaded.ok) throw new Error(loaded.message);
  const { config } = loaded;
  const out = new Writable({ write: (chunk: Buffer, _, done) => ((output += chunk.toString()), done()) });
  service = await createService({
    config,
    version: 'test',
    logs: createLogs(config.logging, out),
    failpoints: readFailpoints(undefined),
    pipelineEnv: createPipelineEnv(config.security.pipelineEnv, environment),
  });
  address = await service.listen();
});
afterEach(async () => {
  await service.close();
  await slack.close();
  await receiver.close();
  rmSync(dir, { recursive: true });
});

const headers = { authorization: 'Bearer op-secret', 'content-type': 'application/json' };

async function run(pipeline: string): Promise<string> {
  const response = await fetch(`${address}/pipelines/${pipeline}/run`, {
    method: 'POST',
    headers,
    body: '{"summary": "it is down", "event": "the <shop>"}',
  });
  return ((await response.json()) as { run_id: string }).run_id;
}

test('a run that fails in the service tells its channels, counts them and shows no secret', async () => {
  const id = await run('production');
  await expect.poll(() => [receiver.received.length, slack.received.length]).toEqual([1, 1]);
  expect(receiver.received[0]?.body).toMatchObject({
    id: `${id}/fail/0`,
    event: 'fail',
    run: { id, url: `https://signalbox.example/ui/runs/${id}` },
  });
  expect(slack.received[0]?.body['text']).toBe('production failed');
  const metrics = async () => (await fetch(`${address}/metrics`)).text();
  await expect.poll(metrics).toContain('service_notifications_total{channel="slack",outcome="sent"} 1');
  expect(output).not.toContain(SLACK_TOKEN);
});

test('a testing pipeline says the same in the log only', async () => {
  await run('testing');
  await expect
    .poll(() => output.match(/"instead_of":"(\w+)"/g))
    .toEqual(['"instead_of":"webhook"', '"instead_of":"slack"']);
  expect(receiver.received).toEqual([]);
  expect(slack.received).toEqual([]);
});

test('a question goes to the default route with buttons, and its answer ends the run', async () => {
  const id = await run('asking');
  await expect.poll(() => slack.received.length).toBe(1);
  const { channel, blocks } = slack.received[0]!.body as {
    channel: string;
    blocks: [{ text: { text: string } }, { elements: { value: string }[] }];
  };
  expect(channel).toBe('C0123456789');
  expect(blocks[0].text.text).toContain('*Waiting for approval: asking*\nit is down\nRestart the &lt;shop&gt;?');
  const [approve, reject] = blocks[1].elements.map(({ value }) => value.split(':'));
  expect([approve?.[0], reject?.[0]]).toEqual(['approve', 'reject']);
  const url = `${address}/approvals/${approve?.[1]}`;
  const response = await fetch(url, { method: 'POST', headers, body: '{"decision": "approve"}' });
  expect(response.status).toBe(200);
  const status = async () =>
    ((await (await fetch(`${address}/runs/${id}`, { headers })).json()) as { status: string }).status;
  await expect.poll(status).toBe('completed');
});
