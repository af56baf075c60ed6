import { slackApps, telegramBots } from '../../chat/bots.ts';
import type { Config } from '../../config/config.ts';

/** A warning where the rules of approvals ask for another person, and nothing says which names are one person. */
export function onePersonTwice({
  approvals: { approvers, required, notTheStarter },
  auth,
  notifications,
}: Pick<Config, 'approvals' | 'auth' | 'notifications'>): string[] {
  const asking = [...(required > 1 ? ['required'] : []), ...(notTheStarter ? ['not_the_starter'] : [])];
  if (approvers !== null || asking.length === 0) return [];
  const deciding = auth.tokens.filter(({ role }) => role === 'operator' || role === 'admin');
  const chats = slackApps(notifications).length + telegramBots(notifications).length;
  if (chats === 0 && deciding.length < 2) return [];
  const keys = asking.map((key) => `approvals.${key}`).join(' and ');
  return [
    `${keys} without approvals.approvers: each token and each user of a chat counts as a person of its own; list the names of a person there`,
  ];
}
