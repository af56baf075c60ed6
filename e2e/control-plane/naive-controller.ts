import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

interface Item {
  metadata: { name: string; resourceVersion: string };
  spec: { description?: string };
}

/**
 * A naive controller: it lists once, trusts every event of its watch, and continues where the watch broke
 * off. Shows that the faults of the proxy are real: under each of them its files end up wrong.
 */
export function startNaiveController(server: string, token: string, directory: string): { stop(): Promise<void> } {
  const stopping = new AbortController();
  const path = `${server}/apis/signalbox.dev/v1alpha1/pipelines`;
  const options = { headers: { authorization: `Bearer ${token}` }, signal: stopping.signal };
  const fileOf = ({ metadata }: Item) => join(directory, 'pipelines', `${metadata.name}.yaml`);
  const write = (item: Item) => writeFileSync(fileOf(item), JSON.stringify(item.spec));
  mkdirSync(join(directory, 'pipelines'), { recursive: true });

  const watch = async (from: string): Promise<string> => {
    let version = from;
    const response = await fetch(`${path}?watch=true${version === '' ? '' : `&resourceVersion=${version}`}`, options);
    if (response.status === 410) return '';
    let rest = '';
    for await (const chunk of response.body ?? []) {
      const lines = (rest + Buffer.from(chunk).toString()).split('\n');
      rest = lines.pop() ?? '';
      for (const { type, object } of lines.map((line) => JSON.parse(line) as { type: string; object: Item })) {
        if (type === 'ERROR') return '';
        version = object.metadata.resourceVersion;
        if (type === 'DELETED') rmSync(fileOf(object), { force: true });
        else write(object);
      }
    }
    return version;
  };
  const run = async () => {
    const list = (await (await fetch(path, options)).json()) as {
      items: Item[];
      metadata: { resourceVersion: string };
    };
    for (const item of list.items) write(item);
    let version = list.metadata.resourceVersion;
    while (!stopping.signal.aborted) {
      version = await watch(version).catch(() => version);
      await delay(100);
    }
  };
  const running = run().catch(() => undefined);
  return {
    stop: async () => {
      stopping.abort();
      await running;
    },
  };
}
