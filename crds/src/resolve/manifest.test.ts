import { expect, test } from 'vitest';
import { type SyncManifest, syncedObjects } from './manifest.ts';

test('each object of a manifest comes with the definition that was written for it', () => {
  const reference = (kind: 'Pipeline' | 'Agent', name: string) => ({ kind, namespace: 'a', name });
  const file = (kind: 'Pipeline' | 'Agent', name: string, hash: string) => ({
    ...reference(kind, name),
    uid: name,
    generation: 1,
    hash,
  });
  const objects = [reference('Pipeline', 'checkout'), reference('Agent', 'triage'), reference('Pipeline', 'refused')];
  const manifest: SyncManifest = {
    files: {
      'pipelines/Checkout_1.yaml': file('Pipeline', 'checkout', 'p'),
      'agents/triage/agent.yaml': file('Agent', 'triage', 't'),
      'agents/triage/soul.md': file('Agent', 'triage', 't'),
    },
    objects: objects.map((object) => ({ ...object, conditions: [], replicas: [] })),
    agents: {},
  };
  expect(syncedObjects(manifest).map(({ name, definition, hash }) => [name, definition, hash])).toEqual([
    ['checkout', 'Checkout_1', 'p'],
    ['triage', 'triage', 't'],
    ['refused', null, null],
  ]);
});
