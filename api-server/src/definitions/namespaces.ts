import { readFile } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { SyncManifest } from '@signalbox/crds';

/** Where the files of the managed folder come from. */
export interface Namespaces {
  /** The namespace of the release; null where the manifest does not say it. */
  home: string | null;
  /** Undefined without a manifest: then no controller wrote the files. Empty for a file that the manifest does not name. */
  of(file: string): string | undefined;
}

const NO_CONTROLLER: Namespaces = { home: null, of: () => undefined };
const UNKNOWN: Namespaces = { home: null, of: () => '' };

/** Reads the namespaces of the managed files. A manifest that cannot be read makes all of them unknown. */
export async function readNamespaces(managedDir: string | null): Promise<Namespaces> {
  if (managedDir === null) return NO_CONTROLLER;
  const text = await readFile(join(managedDir, 'manifest.json'), 'utf8').catch((error: NodeJS.ErrnoException) =>
    error.code === 'ENOENT' ? null : '',
  );
  if (text === null) return NO_CONTROLLER;
  const files = parse(text);
  if (files === null) return UNKNOWN;
  return {
    home: files.namespace ?? null,
    of: (file) => files.files[relative(managedDir, file).split(sep).join('/')]?.namespace ?? '',
  };
}

const Owners = SyncManifest.pick({ namespace: true, files: true });

function parse(text: string) {
  try {
    return Owners.safeParse(JSON.parse(text)).data ?? null;
  } catch {
    return null;
  }
}
