import { expect, test } from 'vitest';
import { baseEnvironment } from './base-environment.ts';

test('a tool server is given what programs need to run, and none of the gateway’s secrets', () => {
  const harmless = { PATH: '/bin', HOME: '/home/gateway', TZ: 'UTC' };
  const secret = {
    GATEWAY_ADMIN_TOKEN: 'a',
    GATEWAY_INVOKE_TOKEN: 'b',
    GATEWAY_SIGNING_KEY: 'c',
    ANTHROPIC_API_KEY: 'd',
    path: 'e',
  };
  expect(baseEnvironment({ ...harmless, ...secret, LANG: undefined })).toEqual(harmless);
});
