import { expect, test } from 'vitest';
import { readRunnerOptions } from './runner-options.ts';

test('without an image agents get no pods', () => {
  expect(readRunnerOptions({})).toBeNull();
  expect(readRunnerOptions({ 'runner-image': '', 'gateway-namespace': 'a' })).toBeNull();
});

test('the rest has defaults', () => {
  expect(readRunnerOptions({ 'runner-image': 'signalbox:1' })).toEqual({
    image: 'signalbox:1',
    pullPolicy: 'IfNotPresent',
    pullSecrets: [],
    gatewayNamespace: null,
    gatewayLabels: { 'app.kubernetes.io/name': 'signalbox', 'app.kubernetes.io/component': 'gateway' },
  });
});

test('lists are separated by commas', () => {
  expect(
    readRunnerOptions({
      'runner-image': 'signalbox:1',
      'runner-pull-policy': 'Always',
      'runner-pull-secrets': 'a, b',
      'gateway-namespace': 'tools',
      'gateway-labels': 'app=gateway,tier=',
    }),
  ).toMatchObject({
    pullPolicy: 'Always',
    pullSecrets: ['a', 'b'],
    gatewayNamespace: 'tools',
    gatewayLabels: { app: 'gateway', tier: '' },
  });
});

test.each([
  [{ 'runner-pull-policy': 'Sometimes' }, '--runner-pull-policy'],
  [{ 'gateway-labels': 'gateway' }, '--gateway-labels'],
  // Without labels every pod of the namespace would be let in.
  [{ 'gateway-labels': ',' }, '--gateway-labels'],
])('%j is refused', (values, flag) => {
  expect(readRunnerOptions({ 'runner-image': 'signalbox:1', ...values })).toContain(flag);
});
