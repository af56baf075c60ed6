import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';

/** Where kube-apiserver, etcd and kubectl are, by the convention of setup-envtest; null where one is not there. */
export function controlPlaneAssets(
  folder = process.env.KUBEBUILDER_ASSETS ?? '/usr/local/kubebuilder/bin',
): string | null {
  try {
    for (const program of ['kube-apiserver', 'etcd', 'kubectl']) accessSync(join(folder, program), constants.X_OK);
    return folder;
  } catch {
    return null;
  }
}
