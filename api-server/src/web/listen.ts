import { Server as TlsServer } from 'node:https';
import type { FastifyInstance } from 'fastify';
import type { Config } from '../config/config.ts';

type Address = Pick<Config['server'], 'host' | 'port'>;

/** Listens; on failure the error names the key and the next step. */
export async function listen(app: FastifyInstance, { host, port }: Address): Promise<string> {
  try {
    const url = await app.listen({ host, port });
    // Fastify does not know what kind of server it was given.
    return app.server instanceof TlsServer ? url.replace(/^http:/, 'https:') : url;
  } catch (cause) {
    const reason = REASONS[(cause as NodeJS.ErrnoException).code ?? '']?.({ host, port });
    throw reason === undefined ? cause : new Error(reason, { cause });
  }
}

const REASONS: Partial<Record<string, (address: Address) => string>> = {
  EADDRINUSE: ({ host, port }) =>
    `server.port: ${host}:${port} is taken by another process; stop it, or set another port`,
  EACCES: ({ port }) => `server.port: this user may not open ${port}; set one from 1024 on`,
  EADDRNOTAVAIL: ({ host }) => `server.host: ${host} is not an address of this machine`,
  ENOTFOUND: ({ host }) => `server.host: ${host} cannot be resolved`,
};
