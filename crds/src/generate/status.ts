import type { Schema } from './json-schemas.ts';

const text = (description: string): Schema => ({ type: 'string', description });
const open = (description: string): Schema => ({
  type: 'object',
  description,
  'x-kubernetes-preserve-unknown-fields': true,
});

const condition: Schema = {
  type: 'object',
  required: ['type', 'status', 'lastTransitionTime', 'reason', 'message'],
  properties: {
    type: text('Accepted, Synced, Ready, PromotionReady or RegressionFree'),
    status: { type: 'string', enum: ['True', 'False', 'Unknown'], description: 'whether it holds' },
    observedGeneration: { type: 'integer', format: 'int64', minimum: 0, description: 'the generation it speaks of' },
    lastTransitionTime: { type: 'string', format: 'date-time', description: 'since when the status is what it is' },
    reason: text('one word for programs'),
    message: text('a sentence for people, with what to do next'),
  },
};

const keyedList = (key: string, items: Schema, description: string): Schema => ({
  type: 'array',
  description,
  items,
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': [key],
});

/** The status that the controller writes; the same for all kinds, unused parts stay absent. */
export function statusSchema(): Schema {
  const replica = {
    type: 'object',
    required: ['pod'],
    properties: {
      pod: text('name of the pod, or its address where the service does not know its name'),
      hash: { type: 'string', nullable: true, description: 'what that pod has loaded' },
    },
  };
  const lastRun = {
    type: 'object',
    description: 'The newest run of this definition.',
    properties: {
      id: text('id of the run'),
      status: text('its status'),
      triggeredAt: { type: 'string', format: 'date-time', description: 'when it was asked for' },
    },
  };
  return {
    type: 'object',
    description: 'What the controller has seen; never written by people.',
    properties: {
      observedGeneration: { type: 'integer', format: 'int64', description: 'the generation this status speaks of' },
      contentHash: text('hash of the effective definition'),
      lastAccepted: open(
        'The last body that passed, use: expanded; the services get it while spec has problems. hash, gzip: its JSON, compressed, in base64, and needs: what the namespace of an agent needs rights for.',
      ),
      replicas: keyedList('pod', replica, 'What each replica of the service has loaded.'),
      conditions: keyedList(
        'type',
        condition,
        'Accepted: the spec is valid. Synced: every replica serves it. Ready: both. PromotionReady: the evidence suffices. RegressionFree: no member of the named golden set got worse.',
      ),
      lastRun,
      stage: text('stage at which it is served: the default counts, and the readiness gate (Pipeline only)'),
      promoted: {
        type: 'boolean',
        description: 'The readiness verdict was ready once under the annotation signalbox.dev/readiness-gate: enforce.',
      },
      agentVersion: text('version of the agent (Agent only)'),
      scale: {
        type: 'object',
        description: 'What autoscalers read of the pods (Agent only).',
        properties: {
          replicas: { type: 'integer', format: 'int32', description: 'pods that there are' },
          selector: text('the labels of these pods'),
        },
      },
      discoveredTools: {
        type: 'array',
        description: 'Tools the agent can call (Agent only).',
        items: open('server, name and hash of a tool'),
      },
    },
  };
}
