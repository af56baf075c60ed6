import {
  isFanOut,
  isParallel,
  type Notifications,
  type Pipeline,
  type Problem,
  receiversOf,
  type ResolvedPipeline,
  type Standing,
  type Step,
} from '@signalbox/crds';
import type { NotificationsBlock } from '../config/notifications-schema.ts';
import type { Channel } from './channel.ts';
import { channels } from './channels/index.ts';
import type { ChannelName } from './message.ts';
import { receiversNamed, refusalOf } from './receivers.ts';
import { settingsOf } from './routes.ts';

type Loc = (string | number)[];
interface Message {
  channel: ChannelName;
  config: Record<string, unknown>;
}
interface Place {
  value: Notifications | undefined;
  loc: Loc;
}

/**
 * Message configs that their channel will not take, or that lack what the service's configuration does not give either,
 * as warnings at load: who reads them at night reads them too late. Without `settings` only the first.
 */
export function* notificationProblems(
  { name, file, config, standing }: ResolvedPipeline,
  settings?: NotificationsBlock,
): Generator<Problem> {
  // A library step repeats its messages in each step that uses it.
  const known = new Map<string, string | null>();
  const judged = (message: Message): string | null => {
    const key = `${message.channel} ${JSON.stringify(message.config)}`;
    const found = known.get(key);
    if (found !== undefined) return found;
    const msg = channels[message.channel].problem(message.config) ?? problemHere(message, standing, settings);
    known.set(key, msg);
    return msg;
  };
  for (const { loc, ...message } of messagesIn(config)) {
    const msg = judged(message);
    const about = { severity: 'warning', kind: 'Pipeline', name, file, reason: 'invalid' } as const;
    if (msg !== null) yield { ...about, loc, msg: `${message.channel}: ${msg}` };
  }
}

function* messagesIn(pipeline: Pipeline): Generator<Message & { loc: Loc }> {
  for (const { value = {}, loc } of places(pipeline))
    for (const [event, messages = []] of Object.entries(value))
      for (const [index, { channel, config = {} }] of messages.entries())
        yield { channel, config, loc: [...loc, event, index, 'config'] };
}

const problemHere = (message: Message, standing: Standing, settings: NotificationsBlock | undefined): string | null =>
  settings ? (missingFor(settings, message) ?? foreignTo(standing, settings, message)) : null;

/** Routes of approvals, and the fallback, that lead nowhere, one line each: an approval request without a receiver waits until it expires. */
export function routeProblems(settings: NotificationsBlock): string[] {
  const routes = Object.entries(settings.routes).map(([team, route]) => [`routes.${team}`, route] as const);
  const all = settings.fallback ? [...routes, ['fallback', settings.fallback] as const] : routes;
  return all.flatMap(([key, { channel, config: own }]) => {
    const operator = settingsOf(settings, channel);
    const prepared = (channels[channel] as Channel<unknown>).prepare({ operator, own, byOperator: true });
    return prepared.ok ? [] : [`notifications.${key}: ${channel}: ${prepared.message}`];
  });
}

/** What would keep a message from its channel now; not asked of a config whose `${NAME}` are filled in when it is sent. */
function missingFor(settings: NotificationsBlock, { channel, config: own }: Message): string | null {
  if (JSON.stringify(own).includes('${')) return null;
  const operator = settingsOf(settings, channel);
  const prepared = (channels[channel] as Channel<unknown>).prepare({ operator, own, byOperator: false });
  return prepared.ok ? null : `${prepared.message}, here or in the service's notifications.${channel}`;
}

/** Rooms that the namespace may not write to. */
const foreignTo = (
  standing: Standing,
  settings: NotificationsBlock,
  { channel, config: own }: Message,
): string | null =>
  JSON.stringify(own).includes('${')
    ? null
    : refusalOf(receiversNamed(channel, own, settingsOf(settings, channel)), receiversOf(standing));

const places = ({ notifications, steps }: Pipeline): Place[] => [
  { value: notifications, loc: ['notifications'] },
  ...steps.flatMap((step, index) => stepPlaces(step, ['steps', index])),
];

function stepPlaces(step: Step, loc: Loc): Place[] {
  const own: Place = { value: step.notifications, loc: [...loc, 'notifications'] };
  if (isParallel(step)) {
    return [
      own,
      ...step.parallel.steps.map(({ notifications }, at) => ({
        value: notifications,
        loc: [...loc, 'parallel', 'steps', at, 'notifications'],
      })),
    ];
  }
  if (isFanOut(step))
    return [own, { value: step.fan_out.step.notifications, loc: [...loc, 'fan_out', 'step', 'notifications'] }];
  return [own];
}
