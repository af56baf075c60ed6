const MAX_PATH_CHARS = 10_000;
const LINE_END = /\r\n|\r|\n/;
/** The parser of the SDK leaves out a byte order mark also where it was encoded twice. */
const DATA = /^(?:\u00EF\u00BB\u00BF)?data:/;

/**
 * A fetch that fails an event of a stream with long paths: Google's SDK makes an object of every two characters of the `jsonPath` of a
 * part of a call, which nobody asked for. What is shorter than that is counted when the SDK has read it.
 */
export function boundPaths(inner: typeof fetch): typeof fetch {
  return async (input, init) => {
    const response = await inner(input, init);
    if (!response.ok || !response.body) return response;
    const { status, statusText, headers, url } = response;
    const bounded = new Response(response.body.pipeThrough(wholeEvents()), { status, statusText, headers });
    return Object.defineProperty(bounded, 'url', { value: url });
  };
}

/** A chunk that ends an event is passed on when the event was looked at. */
function wholeEvents(): TransformStream<Uint8Array, Uint8Array> {
  const decoder = new TextDecoder();
  let event: string[] = [];
  let line = '';
  let afterCr = false;
  const endLine = (ended: string) => {
    if (DATA.test(ended)) event.push(ended.replace(DATA, ''));
    if (ended !== '') return;
    requireShortPaths(event.join('\n'));
    event = [];
  };
  const read = (text: string) => {
    const lines = (afterCr && text.startsWith('\n') ? text.slice(1) : text).split(LINE_END);
    if (text !== '') afterCr = text.endsWith('\r');
    lines[0] = line + (lines[0] ?? '');
    line = lines.pop() ?? '';
    for (const ended of lines) endLine(ended);
  };
  return new TransformStream({
    transform(chunk, controller) {
      read(decoder.decode(chunk, { stream: true }));
      controller.enqueue(chunk);
    },
  });
}

function requireShortPaths(data: string): void {
  if (data.length > MAX_PATH_CHARS && pathChars(data) > MAX_PATH_CHARS)
    throw new Error(`the provider sent paths of more than ${MAX_PATH_CHARS} characters in one event`);
}

function pathChars(data: string): number {
  let chars = 0;
  try {
    JSON.parse(data, (key, value: unknown) => {
      if (key === 'jsonPath') chars += String(value).length;
      return value;
    });
    return chars;
  } catch (error) {
    // What is no JSON is described by the SDK; what cannot be walked through nests too deeply.
    return error instanceof SyntaxError ? 0 : Infinity;
  }
}
