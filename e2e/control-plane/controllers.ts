import { join } from 'node:path';
import { call } from '../support/call.ts';
import { ROOT, type Service, startProcess } from '../support/start-service.ts';

/** One process of the controller as its users start it. */
export function startController(
  args: readonly string[],
  kubeconfig: string,
  env: Record<string, string> = {},
): Promise<Service> {
  const command = { command: process.execPath, args: [join(ROOT, 'controller/start.mjs'), ...args] };
  return startProcess(`controller ${args[0]}`, command, { env: { KUBECONFIG: kubeconfig, ...env } });
}

/** `{dir: '/x'}` as `--dir /x`. */
export const flags = (values: Record<string, string>): string[] =>
  Object.entries(values).flatMap(([name, value]) => [`--${name}`, value]);

export const isReady = async ({ url }: Pick<Service, 'url'>): Promise<boolean> =>
  (await call(`${url}/readyz`)).status === 200;

/** The sum of all series of a metric whose line begins with this text. */
export async function metricOf({ url }: Pick<Service, 'url'>, series: string): Promise<number> {
  const { body } = await call<string>(`${url}/metrics`);
  const lines = body.split('\n').filter((line) => line.startsWith(series));
  return lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
}
