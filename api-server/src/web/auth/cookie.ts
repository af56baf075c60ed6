/** The value of one cookie in a `Cookie` header; only for values that need no quoting, like the ones made here. */
export function readCookie(header: string | undefined, name: string): string | undefined {
  if (header === undefined) return undefined;
  const pair = header.split(';').find((entry) => entry.trimStart().startsWith(`${name}=`));
  return pair?.slice(pair.indexOf('=') + 1).trim();
}

export interface CookieOptions {
  path: string;
  maxAgeSeconds: number;
  secure: boolean;
}

/** A `Set-Cookie` header that scripts cannot read and other sites cannot post with. */
export function setCookieHeader(name: string, value: string, { path, maxAgeSeconds, secure }: CookieOptions): string {
  return `${name}=${value}; Max-Age=${maxAgeSeconds}; Path=${path}; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`;
}
