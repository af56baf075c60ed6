import { AppError } from '@signalbox/crds';
import { z } from 'zod';
import type { Services } from '../../service/services.ts';
import type { Frame } from '../../service/runs/runs.ts';
import { type EventStream, openEventStream } from '../event-stream.ts';
import { tokenOf } from '../auth/caller.ts';
import { idOf } from '../../service/fields.ts';
import { route, type Route } from '../route.ts';

export interface StreamDeps {
  runs: Services['runs'];
  streams: OpenStreams;
  log: { error(fields: object, message: string): void };
}

/** Closes every open stream at a shutdown, and limits their number. */
export interface OpenStreams {
  readonly max: number;
  /** Of one token; a further one ends its oldest. */
  readonly maxPerToken: number;
  /** Stream -> the name of its token, the oldest first; null without authentication. */
  readonly open: Map<EventStream, string | null>;
}

const MAX_WAITING = 1000;
/** An evicted browser comes back by itself, and would evict another one of its token at once. */
const EVICTED_RETRY_MS = 60_000;

/** The live log of a run: history, then live, then one last frame (Orchestration 4.2 and 6). */
export const streamRoutes = (deps: StreamDeps): Route[] => [
  route({
    method: 'GET',
    url: '/ui/runs/:id/stream',
    role: 'viewer',
    id: 'streamRun',
    tag: 'runs',
    summary: 'The log of a run as server-sent events: stored events, live events, then one final frame with the status',
    params: z.strictObject({ id: idOf('run') }),
    answers: {
      200: { mediaType: 'text/event-stream', example: 'data: {"type":"run_complete","status":"completed"}\n\n' },
    },
    refusals: ['not_found', 'rate_limited'],
    handler: async ({ params: { id }, request, reply }) => {
      await deps.runs.ended(id);
      const { open } = deps.streams;
      const token = tokenOf(request);
      makeRoom(deps.streams, token);
      const stream = openEventStream(reply);
      open.set(stream, token);
      stream.onClose(() => open.delete(stream));
      await follow(deps, { id, after: lastEventId(request.headers['last-event-id']), stream });
    },
  }),
];

function makeRoom({ open, max, maxPerToken }: OpenStreams, token: string | null): void {
  const own = token === null ? [] : [...open].filter(([, name]) => name === token).map(([stream]) => stream);
  const [oldest] = own;
  if (oldest && own.length >= maxPerToken) {
    open.delete(oldest);
    oldest.end(EVICTED_RETRY_MS);
  }
  if (open.size >= max) throw new AppError('rate_limited', 'too many streams are open; try again later');
}

interface Following {
  id: string;
  /** Sequence of the last event that the client has. */
  after: number;
  stream: EventStream;
}

/** Subscribes before the history is read, so that no event is lost in between. */
async function follow(deps: StreamDeps, { id, after, stream }: Following): Promise<void> {
  let last = after;
  let waiting: Frame[] | null = [];
  const show = (frame: Frame) => {
    if ('status' in frame && frame.type === 'run_complete') return stream.finish(frame);
    if (!('seq' in frame) || frame.seq <= last) return undefined;
    last = frame.seq;
    return stream.send(frame.seq, frame);
  };
  const unsubscribe = deps.runs.subscribe(id, (frame) => {
    if (waiting === null) show(frame);
    else if (waiting.push(frame) > MAX_WAITING) stream.cut();
  });
  stream.onClose(unsubscribe);
  try {
    const past = await deps.runs.log(id, after);
    await stream.replay(past.map((event) => ({ id: event.seq, data: event })));
    last = past.at(-1)?.seq ?? after;
    const end = await deps.runs.ended(id);
    // Where another process had the run, its last events may have been stored between the two looks.
    const rest = end === null ? [] : await deps.runs.log(id, last);
    for (const frame of [...rest, ...waiting]) show(frame);
    waiting = null;
    if (end !== null) stream.finish({ type: 'run_complete', status: end });
  } catch (error) {
    deps.log.error({ err: error, run_id: id }, 'a stream broke off');
    stream.cut();
  }
}

function lastEventId(header: string | string[] | undefined): number {
  return typeof header === 'string' && /^\d{1,15}$/.test(header) ? Number(header) : 0;
}
