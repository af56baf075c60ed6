import type { CustomObject } from '../objects/custom-object.ts';
import type { ObjectStatus } from '../objects/object-status.ts';
import { packedIn } from '../objects/packed-body.ts';

export interface ObjectInput extends Partial<Omit<CustomObject, 'status'>> {
  status?: Partial<Omit<ObjectStatus, 'lastAccepted'>> & { lastAccepted?: object };
}

/** A pipeline of one shell-free step; what a test is about is given. */
export function objectOf({ status, ...given }: ObjectInput = {}): CustomObject {
  const kind = given.kind ?? 'Pipeline';
  const name = given.name ?? 'checkout';
  return {
    kind,
    namespace: 'default',
    name,
    uid: `uid-${kind}-${given.namespace ?? 'default'}-${name}`,
    generation: 1,
    resourceVersion: '1',
    createdAt: '2026-01-01T00:00:00Z',
    annotations: {},
    spec: SPECS[kind],
    tooLarge: false,
    crowded: false,
    specSize: 0,
    ...given,
    status: {
      conditions: [],
      replicas: [],
      ...status,
      lastAccepted: status?.lastAccepted && packedIn({ ...status.lastAccepted }),
    },
  };
}

export const STEP = { executor: 'gateway', agent: 'helper', prompt_template: 'Look at {{summary}}' };
const SPECS = {
  Pipeline: { steps: [{ name: 'look', ...STEP }] },
  LibraryStep: STEP,
  Agent: { model: 'demo/any', soul: 'Be brief.\n' },
};
