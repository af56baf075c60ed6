import { shortHash } from '@signalbox/crds';
import { type CustomObject, GROUP, VERSION } from './custom-object.ts';

export const CHILD_KINDS = ['NetworkPolicy', 'Service', 'Deployment'] as const;
export type ChildKind = (typeof CHILD_KINDS)[number];

/** Group and version, and plural name of a kind. */
export const CHILD_APIS: Readonly<Record<ChildKind, { apiVersion: string; plural: string }>> = {
  NetworkPolicy: { apiVersion: 'networking.k8s.io/v1', plural: 'networkpolicies' },
  Service: { apiVersion: 'v1', plural: 'services' },
  Deployment: { apiVersion: 'apps/v1', plural: 'deployments' },
};

export const AGENT_LABEL = `${GROUP}/agent`;
/** Hash of the applied object, so that a restart need not apply it again. */
export const APPLIED = `${GROUP}/applied`;

/** An applied object: only the fields that we own. */
export interface KubeObject {
  apiVersion: string;
  kind: ChildKind;
  metadata: {
    name: string;
    namespace: string;
    labels: Record<string, string>;
    annotations: Record<string, string>;
    ownerReferences: object[];
  };
  spec: Record<string, unknown>;
}

/** The labels by which people and selectors find the objects of an agent. */
export const selectorOf = ({ name }: Pick<CustomObject, 'name'>): Record<string, string> => ({ [AGENT_LABEL]: name });

export const labelsOf = (owner: Pick<CustomObject, 'name'>): Record<string, string> => ({
  ...selectorOf(owner),
  'app.kubernetes.io/name': 'signalbox',
  'app.kubernetes.io/component': 'agent',
  'app.kubernetes.io/managed-by': 'signalbox-controller',
});

/** An object of an agent: named after it, labelled, owned by it. Carries nothing else of the owner's labels and annotations. */
export function childOf(owner: CustomObject, kind: ChildKind, name: string, spec: Record<string, unknown>): KubeObject {
  const ownerReference = {
    apiVersion: `${GROUP}/${VERSION}`,
    kind: owner.kind,
    name: owner.name,
    uid: owner.uid,
    controller: true,
  };
  const object: KubeObject = {
    apiVersion: CHILD_APIS[kind].apiVersion,
    kind,
    metadata: {
      name,
      namespace: owner.namespace,
      labels: labelsOf(owner),
      annotations: {},
      ownerReferences: [ownerReference],
    },
    spec,
  };
  object.metadata.annotations[APPLIED] = shortHash(object);
  return object;
}
