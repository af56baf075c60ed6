import { join } from 'node:path';
import { writeFileSync } from 'node:fs';
import { waitFor } from '../support/wait-for.ts';
import { kubeconfigOf } from './kubeconfig.ts';
import type { ControlPlane } from './start-control-plane.ts';

export type Role = 'manager' | 'sync';

const OURS = ['pipelines', 'librarysteps', 'agents'];
const CHILDREN = ['get', 'list', 'watch', 'create', 'patch', 'delete'];
const rule = (apiGroups: string[], resources: string[], verbs: string[]) => ({ apiGroups, resources, verbs });

/** What each role may do, and nothing more. */
const RULES = {
  sync: [rule(['signalbox.dev'], OURS, ['get', 'list', 'watch'])],
  manager: [
    rule(['signalbox.dev'], OURS, ['get', 'list', 'watch']),
    rule(
      ['signalbox.dev'],
      OURS.map((plural) => `${plural}/status`),
      ['get', 'patch', 'update'],
    ),
    rule([''], ['events'], ['create', 'patch']),
    rule([''], ['services'], CHILDREN),
    rule(['apps'], ['deployments'], CHILDREN),
    rule(['networking.k8s.io'], ['networkpolicies'], CHILDREN),
    rule(['coordination.k8s.io'], ['leases'], ['get', 'create', 'update']),
  ],
} as const;

/**
 * ServiceAccounts of the two roles with their rights; `take` and `give` change those of one while it runs, and settle once
 * the API server judges by it.
 */
export interface Accounts {
  /** A real token of the account. */
  token(role: Role): string;
  /** A kubeconfig of the account, for the API server itself or for a proxy in front of it. */
  kubeconfig(role: Role, server?: string): string;
  take(role: Role): Promise<void>;
  give(role: Role): Promise<void>;
}

export async function createAccounts({ kubectl, server, caFile, scratch }: ControlPlane): Promise<Accounts> {
  const create = (manifests: object[]) =>
    kubectl(['apply', '-f', '-'], manifests.map((one) => JSON.stringify(one)).join('\n---\n'));
  const binding = (role: Role) => ({
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name: `signalbox-${role}` },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: `signalbox-${role}` },
    subjects: [{ kind: 'ServiceAccount', name: `signalbox-${role}`, namespace: 'default' }],
  });
  const judges = async (role: Role, expected: 'yes' | 'no') => {
    const who = `system:serviceaccount:default:signalbox-${role}`;
    const ask = () =>
      kubectl(['auth', 'can-i', 'list', 'pipelines.signalbox.dev', '-A', '--as', who]).catch(
        (error: Error & { stdout?: string }) => error.stdout ?? '',
      );
    await waitFor(async () => (await ask()).trim() === expected, {
      what: `the right of ${role} to be ${expected}`,
      timeoutMs: 60_000,
    });
  };
  const tokens: Record<Role, string> = { manager: '', sync: '' };
  for (const role of ['manager', 'sync'] as const) {
    const name = `signalbox-${role}`;
    await create([
      { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name, namespace: 'default' } },
      { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', metadata: { name }, rules: RULES[role] },
      binding(role),
    ]);
    await judges(role, 'yes');
    tokens[role] = (await kubectl(['create', 'token', name, '--duration=2h'])).trim();
  }
  return {
    token: (role) => tokens[role],
    kubeconfig: (role, at = server) => {
      const path = join(scratch, `kubeconfig-${role}-${new URL(at).port}.json`);
      const ca = at.startsWith('https:') ? { caFile } : {};
      writeFileSync(path, kubeconfigOf({ server: at, token: tokens[role], ...ca, namespace: 'default' }), {
        mode: 0o600,
      });
      return path;
    },
    take: async (role) => {
      await kubectl(['delete', 'clusterrolebinding', `signalbox-${role}`]);
      await judges(role, 'no');
    },
    give: async (role) => {
      await create([binding(role)]);
      await judges(role, 'yes');
    },
  };
}
