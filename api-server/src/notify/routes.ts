import type { ChannelSettings, NotificationsBlock } from '../config/notifications-schema.ts';
import type { ChannelName } from './message.ts';

export interface Route {
  /** The key it stands under: the team's, or `default`. */
  team: string;
  channel: ChannelName;
}

/** Where a team's approvals go: its own route, else the default one (Orchestration 6); own keys of the block only. */
export function routeOf({ routes }: Pick<NotificationsBlock, 'routes'>, team: string | null): Route | null {
  const key = [team, 'default'].find((name) => name !== null && Object.hasOwn(routes, name));
  const route = key === null || key === undefined ? undefined : routes[key];
  return route && key ? { team: key, channel: route.channel } : null;
}

/** The operator's block of a channel; an absent one says nothing. */
export const settingsOf = (block: NotificationsBlock, channel: ChannelName): ChannelSettings[ChannelName] =>
  block[channel] ?? {};
