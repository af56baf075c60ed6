import { z } from 'zod';
import { parseFile } from './operator.ts';

const Secret = z.object({ secret: z.object({ name: z.string().min(1), key: z.string().min(1) }) });

/** An entry of `mcp_servers` that is an image: a container in the pods of the agents that list it. */
export const ImageServer = z.looseObject({
  image: z.string().min(1),
  port: z.number().int().min(1).max(65_535),
  env: z.record(z.string(), z.union([z.string(), Secret])).default({}),
  resources: z.record(z.string(), z.unknown()).optional(),
});
export type ImageServer = z.infer<typeof ImageServer>;
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
  const parsed = ImageServer.safeParse(entry);
  const [issue] = parsed.error?.issues ?? [];
  const place = [`${file}: mcp_servers.${name}`, ...(issue?.path ?? [])].join('.');
  if (!parsed.success) throw new Error(`${place}: ${issue?.message}`);
  // Only the gateway could fill `${ENV}`, from its own environment.
  if (parsed.data.image.includes('${')) throw new Error(`${place}.image: \${ENV} is not possible for an image server`);
  return parsed.data;
}
