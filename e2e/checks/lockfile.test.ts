import { expect, test } from 'vitest';
import { withoutEngines } from './lockfile.ts';

test('what dependencies ask of Node leaves the lockfile, what the repository asks of it stays', () => {
  const lockfile = JSON.stringify({
    lockfileVersion: 3,
    packages: {
      '': { engines: { node: '>=20' } },
      gateway: { engines: { node: '>=20' } },
      'node_modules/kysely': { version: '1.0.0', engines: { node: '>=22' }, os: ['linux'] },
      'gateway/node_modules/undici': { version: '2.0.0', engines: { node: '>=22' } },
    },
  });
  expect(JSON.parse(withoutEngines(lockfile))).toEqual({
    lockfileVersion: 3,
    packages: {
      '': { engines: { node: '>=20' } },
      gateway: { engines: { node: '>=20' } },
      'node_modules/kysely': { version: '1.0.0', os: ['linux'] },
      'gateway/node_modules/undici': { version: '2.0.0' },
    },
  });
});
