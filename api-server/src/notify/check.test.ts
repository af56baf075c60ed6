import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ResolvedPipeline, type Standing, UNRESTRICTED } from '@signalbox/crds';
import { expect, test } from 'vitest';
import { NotificationsBlock } from '../config/notifications-schema.ts';
import { createRegistry } from '../definitions/registry.ts';
import { notificationProblems, routeProblems } from './check.ts';
import { pipelineOf, STEP } from './fixtures/run.ts';
import type { ChannelName } from './message.ts';

const check = (body: Record<string, unknown>, settings?: NotificationsBlock, standing: Standing = UNRESTRICTED) => {
  const config = pipelineOf(body);
  const pipeline: ResolvedPipeline = {
    name: config.name,
    file: 'checkout.yaml',
    text: '',
    config,
    body,
    hash: '',
    uses: [],
    standing,
  };
  return [...notificationProblems(pipeline, settings)];
};
const say = (channel: ChannelName, config: object) => ({ fail: [{ channel, config }] });

test.each<[ChannelName, object]>([
  ['log', { level: 'warn' }],
  ['slack', { channel: '#alerts', bot_token: '${SLACK_TOKEN}' }],
  ['slack', { chat_id: 'C1' }],
  ['telegram', { chat_id: -100123, bot_token: '${TG}' }],
  ['msteams', { url: '${TEAMS_URL}' }],
  ['webhook', { url: 'https://${HOST}/x', headers: { authorization: 'Bearer ${T}' }, secret: '${S}' }],
  ['email', { to: ['a@example.com'] }],
  ['email', { to: 'a@example.com, b@example.com' }],
])('%s takes %o', (channel, config) => {
  expect(check({ notifications: say(channel, config) })).toEqual([]);
});

test.each<[ChannelName, object, string]>([
  ['log', { level: 'debug' }, 'log: config.level is not valid'],
  ['slack', { chanel: 'x' }, 'slack: config.chanel is not a key of this channel'],
  ['slack', { api_url: 'http://x' }, 'slack: config.api_url is not a key of this channel'],
  ['telegram', { chat_id: [] }, 'telegram: config.chat_id must be of type string'],
  ['msteams', { url: '' }, 'msteams: config.url is not valid'],
  ['webhook', { headers: { 'a b': 'c' } }, 'webhook: config.headers.a b is not valid'],
  ['webhook', { url: 5 }, 'webhook: config.url must be of type string'],
  ['email', { host: 'smtp.example.com' }, 'email: config.host is not a key of this channel'],
  ['email', { to: 'nobody' }, 'email: config.to.0 is not valid'],
])('%s does not take %o', (channel, config, msg) => {
  const [problem, ...more] = check({ notifications: say(channel, config) });
  expect(problem).toMatchObject({
    severity: 'warning',
    file: 'checkout.yaml',
    loc: ['notifications', 'fail', 0, 'config'],
    msg,
  });
  expect(more).toEqual([]);
});

test.each<[string, ChannelName, object, object, string[]]>([
  ['nothing configured', 'slack', {}, {}, ['slack: bot_token is not set, here or in the service']],
  ['a token and no channel', 'slack', {}, { slack: { bot_token: 'x' } }, ['slack: channel is not set']],
  ['both hands together', 'slack', { channel: '#a' }, { slack: { bot_token: 'x' } }, []],
  ['filled in when it is sent', 'webhook', { url: '${HOOK}' }, {}, []],
  ['mail without a server', 'email', { to: 'a@example.com' }, {}, ['email: host is not set']],
  ['the log', 'log', {}, {}, []],
])('a message that could not be sent is a warning: %s', (_, channel, own, configured, expected) => {
  const settings = NotificationsBlock.parse(configured);
  const found = check({ notifications: say(channel, own) }, settings).map(({ msg }) => msg);
  expect(found).toEqual(expected.map((msg) => expect.stringContaining(msg)));
});

test('a route of approvals that leads nowhere is told, by its team', () => {
  const routes = {
    payments: { channel: 'slack', config: { channel: '#pay' } },
    shop: { channel: 'slack', config: { channel: '#shop', bot_token: 'x' } },
    default: { channel: 'log' },
  };
  expect(routeProblems(NotificationsBlock.parse({ routes }))).toEqual([
    'notifications.routes.payments: slack: bot_token is not set',
  ]);
});

test('every place a message can be written in is checked', () => {
  const notifications = say('log', { loud: true });
  const steps = [
    { name: 'one', ...STEP, notifications },
    { name: 'two', notifications, parallel: { steps: [{ name: 'in', ...STEP, notifications }] } },
    { name: 'three', notifications, fan_out: { over: '[1]', step: { ...STEP, notifications } } },
  ];
  expect(check({ steps, notifications }).map(({ loc }) => loc.join('.'))).toEqual([
    'notifications.fail.0.config',
    'steps.0.notifications.fail.0.config',
    'steps.1.notifications.fail.0.config',
    'steps.1.parallel.steps.0.notifications.fail.0.config',
    'steps.2.notifications.fail.0.config',
    'steps.2.fan_out.step.notifications.fail.0.config',
  ]);
});

test('a load shows it as a warning and takes the pipeline all the same', async () => {
  const pipelineDir = mkdtempSync(join(tmpdir(), 'notify-'));
  const text =
    'name: a\nnotifications: {fail: [{channel: slack, config: {chanel: x}}]}\nsteps: [{name: s, executor: webhook, url: "https://example.com"}]\n';
  writeFileSync(join(pipelineDir, 'a.yaml'), text);
  const folders = { pipelineDir, stepDir: null, managedDir: null };
  const problemsHere = (pipeline: ResolvedPipeline) => notificationProblems(pipeline);
  const registry = await createRegistry({ ...folders, operator: {}, problemsHere, now: () => 0 });
  rmSync(pipelineDir, { recursive: true });
  expect(registry.current().problems).toMatchObject([
    { severity: 'warning', msg: 'slack: config.chanel is not a key of this channel' },
  ]);
  expect([...registry.current().byName.keys()]).toEqual(['a']);
});

test('a room that the namespace may not write to is a warning at load, unless only its sending will tell', () => {
  const settings = NotificationsBlock.parse({ slack: { bot_token: 'xoxb', channel: '#all' } });
  const shop: Standing = { namespace: 'shop', admitted: true, tenant: { receivers: ['slack:#shop'] } };
  const said = (channel: string) =>
    check({ notifications: say('slack', { channel }) }, settings, shop).map(({ msg }) => msg);
  expect(said('#shop')).toEqual([]);
  expect(said('${ROOM}')).toEqual([]);
  expect(said('#bank')).toEqual([
    'slack: its namespace may not write to slack:#bank (receivers of tenancy.namespaces)',
  ]);
});
