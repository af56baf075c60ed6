import { readFile } from 'node:fs/promises';

export interface ReloadTarget {
  url: string;
  /** Read anew for every request, so that a token may be replaced. */
  tokenFile: string | null;
}

const TIMEOUT_MS = 30_000;

/** Tells a service once to read its files again. Throws where it did not say that it has. */
export async function postReload({ url, tokenFile }: ReloadTarget): Promise<void> {
  const token = tokenFile === null ? null : (await readFile(tokenFile, 'utf8')).trim();
  const response = await fetch(url, {
    method: 'POST',
    headers: token === null ? {} : { authorization: `Bearer ${token}` },
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  await response.body?.cancel();
  if (!response.ok) throw new Error(`the reload answered ${response.status}`);
}
