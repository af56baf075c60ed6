import { randomBytes } from 'node:crypto';
import { type CustomObject, GROUP, PLURALS, toCustomObject, VERSION } from '../objects/custom-object.ts';
import type { ObjectStatus } from '../objects/custom-object.ts';
import type { Cluster, KubeAnswer } from './cluster.ts';

export const FIELD_MANAGER = 'signalbox-controller';

export type StatusWritten = { ok: true; object: CustomObject | null } | { ok: false; status: number; message: string };

/** Replaces the status subresource of an object, only where it is still the one of this uid. */
export async function writeStatus(
  cluster: Pick<Cluster, 'send'>,
  object: CustomObject,
  status: ObjectStatus,
): Promise<StatusWritten> {
  const { kind, namespace, name, uid } = object;
  const answer = await cluster.send({
    method: 'PATCH',
    path: `/apis/${GROUP}/${VERSION}/namespaces/${namespace}/${PLURALS[kind]}/${name}/status?fieldManager=${FIELD_MANAGER}`,
    contentType: 'application/json-patch+json',
    body: [
      { op: 'test', path: '/metadata/uid', value: uid },
      { op: 'add', path: '/status', value: status },
    ],
  });
  return answer.ok ? { ok: true, object: toCustomObject(kind, answer.body) } : answer;
}

export interface EventInput {
  type: 'Normal' | 'Warning';
  reason: string;
  message: string;
  now: string;
}

const MAX_MESSAGE = 1000;

/** Tells of a change as an Event of the object. */
export function writeEvent(
  cluster: Pick<Cluster, 'send'>,
  object: CustomObject,
  event: EventInput,
): Promise<KubeAnswer> {
  const { kind, namespace, name, uid, resourceVersion } = object;
  const { type, reason, message, now } = event;
  return cluster.send({
    method: 'POST',
    path: `/api/v1/namespaces/${namespace}/events?fieldManager=${FIELD_MANAGER}`,
    body: {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { namespace, name: `${name}.${randomBytes(8).toString('hex')}` },
      involvedObject: { apiVersion: `${GROUP}/${VERSION}`, kind, namespace, name, uid, resourceVersion },
      type,
      reason,
      message: message.slice(0, MAX_MESSAGE),
      count: 1,
      firstTimestamp: now,
      lastTimestamp: now,
      source: { component: FIELD_MANAGER },
      reportingComponent: FIELD_MANAGER,
      reportingInstance: FIELD_MANAGER,
    },
  });
}
