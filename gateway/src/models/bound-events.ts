import { createLineEnds } from './line-ends.ts';

/** The parser of the SDK leaves out a byte order mark also where it was encoded twice. */
const DATA = /^(?:\u00EF\u00BB\u00BF)?data:/;

/** Looks at the data of each event of one answer, and throws for what costs an SDK too much. */
export type Inspector = () => (data: string) => void;

/** A fetch that fails an event of a stream before the SDK reads it. */
export function boundEvents(inner: typeof fetch, ...inspectors: Inspector[]): typeof fetch {
  return async (input, init) => {
    const response = await inner(input, init);
    if (!response.ok || !response.body) return response;
    const { status, statusText, headers, url } = response;
    const body = response.body.pipeThrough(wholeEvents(inspectors.map((inspector) => inspector())));
    return Object.defineProperty(new Response(body, { status, statusText, headers }), 'url', { value: url });
  };
}

/** A chunk that ends an event is passed on when the event was looked at. */
function wholeEvents(inspect: ((data: string) => void)[]): TransformStream<Uint8Array, Uint8Array> {
  const decoder = new TextDecoder();
  let event: string[] = [];
  let line = '';
  const lineEnds = createLineEnds();
  const endLine = (ended: string) => {
    if (DATA.test(ended)) event.push(ended.replace(DATA, ''));
    if (ended !== '') return;
    const data = event.join('\n');
    for (const look of inspect) look(data);
    event = [];
  };
  const read = (text: string) => {
    const lines = text.split('\n');
    lines[0] = line + (lines[0] ?? '');
    line = lines.pop() ?? '';
    for (const ended of lines) endLine(ended);
  };
  return new TransformStream({
    transform(chunk, controller) {
      const written = lineEnds(chunk);
      read(decoder.decode(written, { stream: true }));
      controller.enqueue(written);
    },
  });
}
