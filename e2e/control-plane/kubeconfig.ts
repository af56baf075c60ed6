export interface Access {
  /** With http:// nothing is verified. */
  server: string;
  token: string;
  caFile?: string;
  namespace?: string;
}

/** The text of a kubeconfig with one cluster and one user; JSON is YAML. */
export function kubeconfigOf({ server, token, caFile, namespace }: Access): string {
  const cluster = { server, ...(caFile === undefined ? {} : { 'certificate-authority': caFile }) };
  const context = { cluster: 'local', user: 'user', ...(namespace === undefined ? {} : { namespace }) };
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'local', cluster }],
    users: [{ name: 'user', user: { token } }],
    contexts: [{ name: 'local', context }],
    'current-context': 'local',
  });
}
