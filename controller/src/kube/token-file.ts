import { existsSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { KubeConfig } from '@kubernetes/client-node';
import { parse } from 'yaml';
import { z } from 'zod';

const Users = z.object({
  users: z.array(z.object({ name: z.string(), user: z.object({ tokenFile: z.string().optional() }).nullish() })),
});

/**
 * Authenticates users whose kubeconfig names a `tokenFile`, a key that the client does not know. The file is read for every
 * request, so that a rotated token counts at once; it goes before a `token`, as with kubectl.
 */
export function useTokenFiles(config: KubeConfig, kubeconfigs: readonly string[]): void {
  const files = new Map<string, string | null>();
  for (const kubeconfig of kubeconfigs.filter((path) => existsSync(path))) {
    const { data } = Users.safeParse(parse(readFileSync(kubeconfig, 'utf8')));
    // Of two users of one name the first counts.
    for (const { name, user } of data?.users ?? [])
      if (!files.has(name)) files.set(name, user?.tokenFile ? resolve(dirname(kubeconfig), user.tokenFile) : null);
  }
  config.users = config.users.map(({ token, ...user }) => (files.get(user.name) || !token ? user : { ...user, token }));
  config.addAuthenticator({
    isAuthProvider: ({ name }) => Boolean(files.get(name)),
    applyAuthentication: async ({ name }, options) => {
      const token = (await readFile(files.get(name) ?? '', 'utf8')).trim();
      options.headers = { ...options.headers, Authorization: `Bearer ${token}` };
    },
  });
}
