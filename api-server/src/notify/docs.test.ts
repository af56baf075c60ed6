import { readFileSync } from 'node:fs';
import { Channel, Notifications } from '@signalbox/crds';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { expandEnv } from '@signalbox/crds/process/settings';
import { NotificationsBlock } from '../config/notifications-schema.ts';
import { channels } from './channels/index.ts';

const page = readFileSync(new URL('../../../docs/notifications.md', import.meta.url), 'utf8');
const blocks = [...page.matchAll(/```yaml\n# in (the configuration|a pipeline)\n([^]*?)```/g)].map(
  ([, where = '', text = '']) => ({
    where,
    notifications: (parse(text) as { notifications: Record<string, unknown> }).notifications,
  }),
);

const ENV = { TEAMS_WEBHOOK_URL: 'https://teams.example.com/hook' };

test('every channel has an example that the configuration takes', () => {
  const inConfiguration = blocks.filter(({ where }) => where === 'the configuration');
  const shown = new Set(inConfiguration.flatMap(({ notifications }) => Object.keys(notifications)));
  expect(shown).toEqual(new Set([...Channel.options, 'routes', 'fallback']));
  for (const { notifications } of inConfiguration)
    expect(NotificationsBlock.safeParse(expandEnv(notifications, ENV)).error).toBeUndefined();
});

test('the example of a pipeline is one that its channels take', () => {
  const inPipelines = blocks.filter(({ where }) => where === 'a pipeline');
  expect(inPipelines).toHaveLength(1);
  for (const { notifications } of inPipelines) {
    for (const { channel, config = {} } of Object.values(Notifications.parse(notifications)).flatMap(
      (list) => list ?? [],
    )) {
      expect(channels[channel].problem(config)).toBeNull();
    }
  }
});

test('every event stands in the table', () => {
  const events = [...page.matchAll(/^\| `(\w+)` \| (?:the run|an agent|people)/gm)].map(([, event]) => event);
  expect(events).toEqual(Object.keys(Notifications.shape));
});
