import { expect, test } from 'vitest';
import type { Config } from '../../config/config.ts';
import { ANYBODY } from '../../service/approvals/anybody.fixture.ts';
import { onePersonTwice } from './one-person-twice.ts';

type Parts = Parameters<typeof onePersonTwice>[0];
const TWO: Parts['approvals'] = { ...ANYBODY, required: 2 };
const SLACK = { slack: { app_token: 'a' } };
const said = (approvals: Parts['approvals'], roles: string[], notifications: object = {}): string[] =>
  onePersonTwice({
    approvals,
    auth: { tokens: roles.map((role) => ({ role })) } as unknown as Config['auth'],
    notifications: { routes: {}, ...notifications } as Config['notifications'],
  });

test.each<[string, Parts['approvals'], string[], object, string]>([
  ['two tokens', TWO, ['operator', 'admin'], {}, 'approvals.required without'],
  ['a chat of Slack', { ...ANYBODY, notTheStarter: true }, ['operator'], SLACK, 'approvals.not_the_starter without'],
  [
    'a chat of Telegram',
    { ...TWO, notTheStarter: true },
    ['operator'],
    { telegram: { bot_token: 'a' } },
    'approvals.required and approvals.not_the_starter without',
  ],
])('rules that ask for another person warn where one may have %s', (_, approvals, roles, chats, beginning) => {
  expect(said(approvals, roles, chats)).toEqual([expect.stringMatching(`^${beginning} approvals.approvers: `)]);
});

test.each<[string, Parts['approvals'], string[], object]>([
  ['lists of persons', { ...TWO, approvers: new Map() }, ['operator', 'operator'], SLACK],
  ['no rule about persons', ANYBODY, ['operator', 'operator'], SLACK],
  ['one token that decides', TWO, ['operator', 'viewer', 'webhook'], { slack: { bot_token: 'no buttons' } }],
])('with %s there is nothing to warn of', (_, approvals, roles, chats) => {
  expect(said(approvals, roles, chats)).toEqual([]);
});
