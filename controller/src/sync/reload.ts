import { readFile } from 'node:fs/promises';
import { exchange, textOf } from '../net/exchange.ts';

export interface ReloadTarget {
  url: string;
  /** Read anew for every request, so that a token may be replaced. */
  tokenFile: string | null;
}

const TIMEOUT_MS = 30_000;

/** Tells a service once to read its files again. Throws where it did not say that it has. */
export async function postReload({ url, tokenFile }: ReloadTarget): Promise<void> {
  const token = tokenFile === null ? null : (await readFile(tokenFile, 'utf8')).trim();
  const answer = await exchange({
    url,
    method: 'POST',
    headers: token === null ? {} : { authorization: `Bearer ${token}` },
    answerMs: TIMEOUT_MS,
  });
  await textOf(answer);
  const { statusCode = 0 } = answer;
  if (statusCode < 200 || statusCode >= 300) throw new Error(`the reload answered ${statusCode}`);
}
