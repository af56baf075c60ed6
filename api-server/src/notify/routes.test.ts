import { expect, test } from 'vitest';
import { NotificationsBlock } from '../config/notifications-schema.ts';
import { routeOf } from './routes.ts';

const block = (routes: object) => NotificationsBlock.parse({ routes });

test('a team’s own route wins over the default one', () => {
  const settings = block({ payments: { channel: 'slack' }, default: { channel: 'email' } });
  expect(routeOf(settings, 'payments')).toEqual({ team: 'payments', channel: 'slack' });
  expect(routeOf(settings, 'shop')).toEqual({ team: 'default', channel: 'email' });
  expect(routeOf(settings, null)).toEqual({ team: 'default', channel: 'email' });
});

test.each(['shop', null, 'constructor', '__proto__', 'toString'])('without a route for %s there is none', (team) => {
  expect(routeOf(block({ payments: { channel: 'slack' } }), team)).toBeNull();
});
