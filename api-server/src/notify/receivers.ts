import type { ChannelName } from './message.ts';
import { isServiceBot } from './own-config.ts';

type Own = Readonly<Record<string, unknown>>;

/** A bot of the author's own reaches what its owner lets it. */
const unlessOwnBot = (own: Own, operator: Own, room: unknown): unknown =>
  isServiceBot(own, operator) ? room : undefined;

/** What an author's config names for the bot or the mail server of the operator. Addresses of HTTP are judged when they are called. */
const NAMED: Partial<Record<ChannelName, (own: Own, operator: Own) => unknown>> = {
  slack: (own, operator) => unlessOwnBot(own, operator, own['channel'] ?? own['chat_id']),
  telegram: (own, operator) => unlessOwnBot(own, operator, own['chat_id']),
  email: ({ to }) => (typeof to === 'string' ? to.split(',').map((one) => one.trim()) : to),
};

/** As entries of `receivers` name them: `slack:#shop`. `operator`: the service's own settings of the channel. */
export const receiversNamed = (channel: ChannelName, own: Own, operator: object): string[] =>
  [NAMED[channel]?.(own, operator as Own) ?? []].flat().map((one) => `${channel}:${String(one)}`);

/** Why a message may not go to one of them; null where it may. `allowed` is null where nothing restricts it. */
export function refusalOf(named: readonly string[], allowed: readonly string[] | null): string | null {
  const foreign = named.find((one) => allowed !== null && !allowed.some((entry) => fits(entry, one)));
  return foreign === undefined ? null : `its namespace may not write to ${foreign} (receivers of tenancy.namespaces)`;
}

/** One `*` stands for any characters. */
function fits(entry: string, name: string): boolean {
  const star = entry.indexOf('*');
  if (star === -1) return entry === name;
  const [start, end] = [entry.slice(0, star), entry.slice(star + 1)];
  return name.length >= start.length + end.length && name.startsWith(start) && name.endsWith(end);
}
