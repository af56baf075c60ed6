import { readFile } from 'node:fs/promises';
import { request } from 'undici';

export interface ReloadTarget {
  url: string;
  /** Read for every request, so that a token may be replaced. */
  tokenFile: string | null;
}

const TIMEOUT_MS = 30_000;

/** Asks a service once to read its files again. Throws where the service did not confirm it. */
export async function postReload({ url, tokenFile }: ReloadTarget): Promise<void> {
  const token = tokenFile === null ? null : (await readFile(tokenFile, 'utf8')).trim();
  const { statusCode, body } = await request(url, {
    method: 'POST',
    headers: token === null ? {} : { authorization: `Bearer ${token}` },
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  await body.dump();
  if (statusCode < 200 || statusCode >= 300) throw new Error(`the reload answered ${statusCode}`);
}
