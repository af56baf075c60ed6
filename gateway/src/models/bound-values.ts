import { createPieces } from '@signalbox/crds/process/rest';
import type { AnswerRoom } from './answer-room.ts';

const [QUOTE, BACKSLASH, COMMA, BRACKET, BRACE, LF, CR] = [...'"\\,[{\n\r'].map((char) => char.charCodeAt(0));

/** Of one answer, of one event of a stream, and of the arguments of all calls in one answer. */
export const MAX_VALUES = 50_000;

/** Of one answer. A stream says a few tokens in two or three. */
const MAX_LINES = 500_000;

/** Of one event of a stream. The last one may repeat the whole answer. */
const MAX_EVENT_BYTES = 4 * 1024 * 1024;

/**
 * Fails an answer that holds more values than any model says at once: where they do not fit what an SDK expects, it describes each of
 * them, which takes the event loop minutes and gigabytes for what is sent in a second. So do lines that are nothing. What is not read
 * yet, all of an answer or an event of a stream, takes `room`.
 */
export function boundValues(room: AnswerRoom, isStream: boolean): TransformStream<Uint8Array, Uint8Array> {
  const excessIn = createCounter({
    isStream,
    maxEventBytes: isStream ? MAX_EVENT_BYTES : Infinity,
    onUnread: (bytes) => room.hold(bytes),
  });
  const pieces = createPieces();
  return new TransformStream({
    start(controller) {
      room.begin(isStream, (failure) => controller.error(failure));
    },
    async transform(chunk, controller) {
      room.receive(chunk.length);
      for await (const piece of pieces(chunk)) {
        const excess = excessIn(piece);
        if (room.failure !== null) return;
        if (excess !== null) return controller.error(new Error(`the provider sent more than ${excess}`));
        controller.enqueue(piece);
      }
    },
  });
}

/**
 * Counts the values of a JSON text outside its strings, chunk by chunk, by the signs before each. A blank line ends an event of a
 * stream, and what follows is counted on its own. `onUnread` hears by how much there is more, or less, of what is not ended.
 */
export function createCounter({
  isStream = false,
  maxValues = MAX_VALUES,
  maxLines = MAX_LINES,
  maxEventBytes = Infinity,
  onUnread = (_bytes: number): void => {},
} = {}): (chunk: Uint8Array) => string | null {
  let values = 0;
  let eventBytes = 0;
  let lines = 0;
  let inString = false;
  let isEscaped = false;
  let lineIsEmpty = true;
  let before = 0;
  const endLine = () => {
    lines += 1;
    if (lineIsEmpty && isStream) [values, eventBytes] = [0, 0];
    // No string goes on in the next line.
    [inString, isEscaped, lineIsEmpty] = [false, false, true];
  };
  const readInString = (byte: number) => {
    if (isEscaped) isEscaped = false;
    else if (byte === BACKSLASH) isEscaped = true;
    else inString = byte !== QUOTE;
  };
  const readOutside = (byte: number) => {
    lineIsEmpty = false;
    inString = byte === QUOTE;
    if (byte === COMMA || byte === BRACKET || byte === BRACE) values += 1;
  };
  const read = (byte: number) => {
    if (byte === CR || (byte === LF && before !== CR)) endLine();
    else if (inString) readInString(byte);
    else if (byte !== LF) readOutside(byte);
    before = byte;
  };
  return (chunk) => {
    const unread = eventBytes;
    for (const byte of chunk) {
      read(byte);
      if (values > maxValues) return `${maxValues} values in one message`;
    }
    eventBytes += chunk.length;
    onUnread(eventBytes - unread);
    if (eventBytes > maxEventBytes) return `${maxEventBytes} bytes in one event`;
    return lines > maxLines ? `${maxLines} lines` : null;
  };
}
