import { randomBytes } from 'node:crypto';
import { setHeaderOptions } from '@kubernetes/client-node';
import { type CustomObject, GROUP, PLURALS, VERSION, withStatus } from '../objects/custom-object.ts';
import type { ObjectStatus } from '../objects/object-status.ts';
import { answerOf, JSON_PATCH, type KubeAnswer, type Refusal } from './answer.ts';
import { type Cluster, FIELD_MANAGER } from './cluster.ts';

const STATUS_PATCH = setHeaderOptions(
  'Accept',
  'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1',
  JSON_PATCH,
);

export type StatusWritten = { ok: true; object: CustomObject | null } | Refusal;

/** Replaces the status subresource of an object, only where it still has this uid. */
export async function writeStatus(
  { custom }: Pick<Cluster, 'custom'>,
  object: CustomObject,
  status: ObjectStatus,
): Promise<StatusWritten> {
  const { kind, namespace, name, uid } = object;
  const body = [{ op: 'test', path: '/metadata/uid', value: uid }, ...changesTo(object.status, status)];
  const place = { group: GROUP, version: VERSION, plural: PLURALS[kind], namespace, name };
  const answer = await answerOf(
    custom.patchNamespacedCustomObjectStatus({ ...place, body, fieldManager: FIELD_MANAGER }, STATUS_PATCH),
  );
  return answer.ok ? { ok: true, object: withStatus(object, status, answer.body) } : answer;
}

/** Of a body that was left out here, the one in the cluster stays. */
function changesTo(
  before: ObjectStatus,
  status: ObjectStatus,
): { op: 'add' | 'remove'; path: string; value?: unknown }[] {
  const { lastAccepted, ...rest } = status;
  if (lastAccepted?.leftOut === undefined) return [{ op: 'add', path: '/status', value: status }];
  const gone = Object.keys(before).filter((key) => before[key] !== undefined && !Object.hasOwn(status, key));
  return [
    ...Object.entries(rest).map(([key, value]) => ({ op: 'add' as const, path: `/status/${key}`, value })),
    ...gone.map((key) => ({ op: 'remove' as const, path: `/status/${key}` })),
  ];
}

export interface EventInput {
  type: 'Normal' | 'Warning';
  reason: string;
  message: string;
  now: Date;
}

const MAX_MESSAGE = 1000;

/** Records a change of an object as an Event. */
export function writeEvent(
  { core }: Pick<Cluster, 'core'>,
  { kind, namespace, name, uid, resourceVersion }: CustomObject,
  { type, reason, message, now }: EventInput,
): Promise<KubeAnswer> {
  return answerOf(
    core.createNamespacedEvent({
      namespace,
      fieldManager: FIELD_MANAGER,
      body: {
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
    }),
  );
}
