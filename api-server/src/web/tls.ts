import { readFileSync } from 'node:fs';
import { createSecureContext, Server, type SecureContextOptions } from 'node:tls';
import type { FastifyInstance } from 'fastify';
import type { TlsConfig } from '../config/config.ts';

export interface TlsOptions extends SecureContextOptions {
  /** With `server.tls.client_ca` every client must present a certificate that it signed. */
  requestCert?: boolean;
  rejectUnauthorized?: boolean;
}

/** Reads and checks the files (Orchestration 2.13); throws one line that names them. */
export function tlsOptions({ cert, key, keyPassword, clientCa }: TlsConfig): TlsOptions {
  try {
    const options = {
      cert: readFileSync(cert),
      key: readFileSync(key),
      ...(keyPassword === null ? {} : { passphrase: keyPassword }),
      ...(clientCa === null ? {} : { ca: readFileSync(clientCa), requestCert: true, rejectUnauthorized: true }),
    };
    createSecureContext(options);
    return options;
  } catch (cause) {
    const files = [cert, key, ...(clientCa === null ? [] : [clientCa])].join(', ');
    throw new Error(`server.tls: cannot be used (${files}): ${(cause as Error).message}`, { cause });
  }
}

/**
 * Reloads the files for new connections; open connections keep the old certificate. Throws like
 * `tlsOptions`, and then nothing has changed.
 */
export function renewTls({ server }: Pick<FastifyInstance, 'server'>, tls: TlsConfig | null): void {
  if (tls !== null && server instanceof Server) server.setSecureContext(tlsOptions(tls));
}
