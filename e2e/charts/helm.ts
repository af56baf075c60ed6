/** Runs helm and reads what it renders. */
import { execFile } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { parseAllDocuments } from 'yaml';
import { ROOT } from '../support/start-service.ts';

export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    name: string;
    namespace?: string;
    labels: Record<string, string>;
    annotations?: Record<string, string>;
  };
  // oxlint-disable-next-line typescript/no-explicit-any -- whatever the kind holds
  readonly [key: string]: any;
}

const run = promisify(execFile);

/** Where helm is: on the PATH, or beside the control plane's programs; null where it is not. */
export function helmProgram(): string | null {
  const folders = [...(process.env.PATH ?? '').split(delimiter), process.env.KUBEBUILDER_ASSETS ?? ''];
  const found = folders.filter(Boolean).find((folder) => {
    try {
      accessSync(join(folder, 'helm'), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
  return found === undefined ? null : join(found, 'helm');
}

/** Answers stdout; rejects with what helm said. */
export async function helm(...args: string[]): Promise<string> {
  const program = helmProgram();
  if (program === null) throw new Error('there is no helm');
  const { stdout } = await run(program, args, { cwd: ROOT, maxBuffer: 64 * 1024 ** 2 });
  return stdout;
}

export type Values = { [key: string]: unknown };

const chartOf = (chart: string) => join('charts', chart);

export function renderText(values: Values = {}, chart = 'signalbox', namespace = 'ops'): Promise<string> {
  const settings = Object.entries(values).flatMap(([key, value]) => ['--set-json', `${key}=${JSON.stringify(value)}`]);
  return helm('template', 'sb', chartOf(chart), '--namespace', namespace, ...settings);
}

export async function render(values: Values = {}, chart = 'signalbox'): Promise<Manifest[]> {
  const documents = parseAllDocuments(await renderText(values, chart));
  return documents
    .map((document) => {
      if (document.errors.length > 0) throw new Error(`no YAML: ${document.errors[0]?.message}`);
      return document.toJS() as Manifest;
    })
    .filter((manifest) => manifest !== null);
}

/** Helm's error for values that it rejects; empty where it accepts them. */
export function refusal(values: Values): Promise<string> {
  return renderText(values).then(
    () => '',
    (error: unknown) => String((error as { stderr?: unknown }).stderr ?? error),
  );
}

export function pick(manifests: readonly Manifest[], kind: string, name: string): Manifest {
  const found = manifests.find((one) => one.kind === kind && one.metadata.name === name);
  if (!found)
    throw new Error(
      `no ${kind} ${name} among ${manifests.map((one) => `${one.kind} ${one.metadata.name}`).join(', ')}`,
    );
  return found;
}
