import { readFileSync, unwatchFile, watchFile } from 'node:fs';
import { createSecureContext, type SecureContextOptions, Server } from 'node:tls';

/** Files in PEM. */
export interface TlsFiles {
  cert: string;
  key: string;
  /** With it every client must present a certificate that it signed. */
  client_ca?: string | undefined;
}

/** Kubernetes replaces the files of a Secret within a minute or two, so looking more often finds nothing sooner. */
const LOOK_EVERY_MS = 60_000;

/** Reads and checks the files; throws where they are not what they should be. */
export function tlsOptions({ cert, key, client_ca }: TlsFiles): SecureContextOptions & { requestCert?: boolean } {
  const clients = client_ca === undefined ? {} : { ca: readFileSync(client_ca), requestCert: true };
  const options = { cert: readFileSync(cert), key: readFileSync(key), ...clients };
  createSecureContext(options);
  return options;
}

/** Reads the files again for new connections; where they cannot be used nothing changes, and it throws. */
export function renewTls(server: unknown, files: TlsFiles): void {
  if (server instanceof Server) server.setSecureContext(tlsOptions(files));
}

/** Calls `onChange` when one of the files was replaced; returns what ends that. */
export function watchTls(files: TlsFiles, onChange: () => void): () => void {
  const paths = [files.cert, files.key, ...(files.client_ca === undefined ? [] : [files.client_ca])];
  for (const path of paths) watchFile(path, { interval: LOOK_EVERY_MS, persistent: false }, onChange);
  return () => {
    for (const path of paths) unwatchFile(path, onChange);
  };
}
