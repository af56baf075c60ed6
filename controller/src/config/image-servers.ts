import { ImageServer as Schema } from '@signalbox/crds';
import { z } from 'zod';
import { parseFile } from './operator.ts';

/** With the keys that only the gateway reads: a change of them rolls the pods too. */
const Entry = Schema.loose();
export type ImageServer = z.infer<typeof Entry>;
export type ImageServers = ReadonlyMap<string, ImageServer>;

const Servers = z.looseObject({ mcp_servers: z.record(z.string(), z.looseObject({})).nullish() });

/** The image servers of the gateway's configuration file. Throws with the file and the entry. */
export function readImageServers(files: readonly string[]): ImageServers {
  const found = new Map<string, ImageServer>();
  for (const file of files) {
    const { data } = Servers.safeParse(parseFile(file) ?? {});
    for (const [name, entry] of Object.entries(data?.mcp_servers ?? {}))
      if ('image' in entry) found.set(name, readOne(file, name, entry));
  }
  return found;
}

function readOne(file: string, name: string, entry: object): ImageServer {
  const parsed = Entry.safeParse(entry);
  const [issue] = parsed.error?.issues ?? [];
  const place = [`${file}: mcp_servers.${name}`, ...(issue?.path ?? [])].join('.');
  if (!parsed.success) throw new Error(`${place}: ${issue?.message}`);
  // Only the gateway could fill `${ENV}`, from its own environment.
  if (JSON.stringify(entry).includes('${')) throw new Error(`${place}: \${ENV} is not possible for an image server`);
  return parsed.data;
}
