/** One message of a Server-Sent Events stream. */
export interface StreamEvent {
  readonly id: string | null;
  readonly event: string | null;
  readonly data: string;
}

/** Reads a run's stream until the server ends it or `signal` fires. Comments are skipped. */
export async function* readEventStream(
  url: string,
  { token, signal, lastEventId }: { token: string; signal?: AbortSignal; lastEventId?: string },
): AsyncGenerator<StreamEvent> {
  const response = await fetch(url, {
    headers: {
      authorization: `Bearer ${token}`,
      accept: 'text/event-stream',
      ...(lastEventId ? { 'last-event-id': lastEventId } : {}),
    },
    signal,
  });
  if (!response.ok || !response.body) throw new Error(`${url} answered ${response.status}: ${await response.text()}`);
  let buffered = '';
  for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
    const blocks = `${buffered}${chunk}`.split(/\r?\n\r?\n/);
    buffered = blocks.pop() ?? '';
    for (const block of blocks) {
      const message = parseBlock(block);
      if (message) yield message;
    }
  }
}

function parseBlock(block: string): StreamEvent | null {
  const fields = { id: null as string | null, event: null as string | null, data: [] as string[] };
  for (const line of block.split(/\r?\n/)) {
    const [, name, value] = /^(id|event|data): ?(.*)$/.exec(line) ?? [];
    if (name === 'data') fields.data.push(value ?? '');
    else if (name === 'id') fields.id = value ?? '';
    else if (name === 'event') fields.event = value ?? '';
  }
  return fields.data.length > 0 ? { id: fields.id, event: fields.event, data: fields.data.join('\n') } : null;
}
