import { expect, test } from 'vitest';
import { plan } from '../plan/plan.ts';
import { conditionsOf } from '../status/conditions.ts';
import { objectOf } from '../testing/objects.ts';
import { toChild } from './child.ts';
import { stateOfRollout } from './readiness.ts';

const condition = (type: string, status: string, reason = 'Any', message = `${type} said so`) => ({
  type,
  status,
  reason,
  message,
});
const AVAILABLE = condition('Available', 'True', 'MinimumReplicasAvailable');
const MISSING = condition('Available', 'False', 'MinimumReplicasUnavailable');
const ROLLING = condition('Progressing', 'True', 'ReplicaSetUpdated');
const ROLLED = condition('Progressing', 'True', 'NewReplicaSetAvailable');
const STUCK = condition('Progressing', 'False', 'ProgressDeadlineExceeded');

function stateOf(status: object, spec: object = { replicas: 2 }) {
  const metadata = { name: 'agent-a', namespace: 'n', uid: 'u', resourceVersion: '5', generation: 3 };
  const child = toChild('Deployment', { metadata, spec, status });
  return stateOfRollout(child!.rollout!);
}

test.each([
  ['no status yet', {}, 'False Starting', '0 of 2 pods are ready'],
  ['the status of an older generation', { observedGeneration: 2, conditions: [AVAILABLE] }, 'False Starting', '0 of 2'],
  ['first pods coming', { observedGeneration: 3, conditions: [MISSING, ROLLING] }, 'False Starting', '0 of 2'],
  [
    'pods there',
    { observedGeneration: 3, availableReplicas: 2, conditions: [AVAILABLE, ROLLED] },
    'True Available',
    '2 of 2',
  ],
  [
    'a rollout',
    { observedGeneration: 3, availableReplicas: 2, conditions: [AVAILABLE, ROLLING] },
    'True Available',
    '2 of 2',
  ],
  [
    'a rollout that is stuck',
    { observedGeneration: 3, conditions: [AVAILABLE, STUCK] },
    'False DeploymentUnavailable',
    'Progressing said so',
  ],
  [
    'pods lost',
    { observedGeneration: 3, conditions: [MISSING, ROLLED] },
    'False DeploymentUnavailable',
    'Available said so',
  ],
])('a Deployment with %s', (_name, status, expected, message) => {
  const state = stateOf(status);
  expect(`${state.status} ${state.reason}`).toBe(expected);
  expect(state.message).toContain(message);
});

test('an agent is Ready with its pods, and says what they wait for', () => {
  const [verdict] = plan([objectOf({ kind: 'Agent', name: 'a' })], undefined);
  const hash = verdict!.served!.hash;
  const replica = {
    pod: 'g',
    hashes: new Map([['Agent a', hash]]),
    lastRuns: new Map(),
    errors: new Map(),
    warnings: new Map(),
    verdicts: new Map(),
    goldenSets: new Map(),
    tools: new Map(),
  };
  const view = { asked: true as const, replicas: [replica], failed: [] };
  const ready = (state: Parameters<typeof conditionsOf>[2]) => {
    const said = conditionsOf(verdict!, view, state).find(({ type }) => type === 'Ready');
    return `${said?.status} ${said?.reason} ${said?.message}`;
  };
  expect(ready(null)).toContain('True Ready');
  expect(ready({ status: 'True', reason: 'Available', message: '' })).toContain('True Ready');
  expect(ready({ status: 'False', reason: 'Starting', message: '0 of 1' })).toBe('False Starting 0 of 1');
  expect(ready({ status: 'Unknown', reason: 'NoRunnerKey', message: 'x' })).toBe('Unknown NoRunnerKey x');
});
