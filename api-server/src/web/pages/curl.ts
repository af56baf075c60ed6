/** A request of the API that does what a form of a page does. */
export interface Call {
  label: string;
  path: string;
  body?: unknown;
}

export const apiPath = (...segments: (string | number)[]): string => `/${segments.map(encodeURIComponent).join('/')}`;

/** A text as one word of a POSIX shell. */
const shellQuote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** The command that sends a call to the service at `origin`; `token` is the name of a variable of the shell. */
export function curlOf(origin: string, { path, body }: Omit<Call, 'label'>, token = 'SIGNALBOX_TOKEN'): string {
  return [
    `curl -X POST ${shellQuote(origin + path)}`,
    `-H "Authorization: Bearer $${token}"`,
    ...(body === undefined ? [] : ["-H 'Content-Type: application/json'", `-d ${shellQuote(JSON.stringify(body))}`]),
  ].join(' \\\n  ');
}
