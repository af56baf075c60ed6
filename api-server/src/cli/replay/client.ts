/** One JSON request of the api-server; throws with one line where it is refused or not reached. */
export type Ask = <T>(method: 'GET' | 'POST', path: string, body?: object) => Promise<T>;

const REQUEST_MS = 60_000;

export function createClient(url: string, token: string): Ask {
  return async <T>(method: 'GET' | 'POST', path: string, body?: object) => {
    const answer = await fetch(new URL(path, url), {
      method,
      headers: { authorization: `Bearer ${token}`, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(REQUEST_MS),
    }).catch((error: unknown) => {
      throw new Error(`${url} cannot be reached: ${reasonOf(error)}`, { cause: error });
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path} answered ${answer.status}: ${messageIn(text)}`);
    return JSON.parse(text) as T;
  };
}

/** `fetch` keeps the reason in the cause. */
function reasonOf(error: unknown): string {
  const { message, cause } = error as Error;
  return cause instanceof Error && cause.message !== '' ? cause.message : message;
}

function messageIn(text: string): string {
  try {
    const { detail } = JSON.parse(text) as { detail?: { message?: string } };
    return detail?.message ?? text.slice(0, 200);
  } catch {
    return text.slice(0, 200);
  }
}
