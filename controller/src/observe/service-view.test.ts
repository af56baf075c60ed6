import { expect, test } from 'vitest';
import { keyOf, readAgents } from './service-view.ts';

test('what a gateway could not load of an agent is known, and not what it says of a file that made room', () => {
  const view = readAgents('gateway-0', {
    agents: [{ name: 'kept', version: 'abc' }],
    errors: [
      { agent: 'broken', field: 'model', value: 'gone/x', message: '"gone/x" maps to no configured provider' },
      { agent: 'kept', field: 'model', message: 'provider "x" has no key', severity: 'warning' },
      { agent: 'kept', field: 'name', value: 'kept', message: 'the name belongs to a managed agent' },
    ],
  });
  expect([...(view?.errors ?? [])]).toEqual([
    [keyOf('Agent', 'broken'), 'model: "gone/x" maps to no configured provider'],
  ]);
});
