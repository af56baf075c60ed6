import type { ChannelSettings } from '../../config/notifications-schema.ts';
import type { Channel } from '../channel.ts';
import type { ChannelName } from '../message.ts';
import { email } from './email.ts';
import { log } from './log.ts';
import { msteams } from './msteams.ts';
import { slack } from './slack.ts';
import { telegram } from './telegram.ts';
import { webhook } from './webhook.ts';

type Channels = { [N in ChannelName]: Channel<ChannelSettings[N]> };

/** Every channel that `notifications` may name. */
export const channels: Channels = { log, slack, telegram, msteams, webhook, email };
