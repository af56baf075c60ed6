import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { ROOT, type Service, startProcess } from './start-service.ts';

/** Builds what the image runs, in a folder of its own. */
export function buildBundle(dist: string): string {
  execFileSync(process.execPath, [join(ROOT, 'e2e/bundle/bundle.ts'), '--out', dist]);
  return dist;
}

/** A role of the controller as the entry point of the image starts it, with the memory options of that. */
export function startBundledController(dist: string, args: readonly string[], kubeconfig: string): Promise<Service> {
  const env = { KUBECONFIG: kubeconfig, NODE_ENV: 'production', NODE_DISABLE_COMPILE_CACHE: '1' };
  const command = { command: join(dist, 'signalbox'), args: ['controller', ...args] };
  return startProcess(`controller ${args[0]}`, command, { env });
}
