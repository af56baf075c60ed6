import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { ErrorCode, type JSONRPCMessage, JSONRPCMessageSchema } from '@modelcontextprotocol/sdk/types.js';
import { valuesIn } from '@signalbox/crds';
import { MAX_VALUES } from '../models/bound-values.ts';
import { createFloodGuard, FLOOD_LIMITS } from './flood-guard.ts';
import { IncomingGuard } from './incoming-guard.ts';
import { LineReader } from './line-reader.ts';
import type { WatchMemory } from './memory-watch.ts';
import type { Guarded, OrphanWatch } from './orphan-watch.ts';
import { endGroup, type GroupLeader, type ProcessSpec, startGroup } from './process-group.ts';
import { killProcesses, type ProcessRow } from './process-table.ts';
import { ServerBusy } from './tool.ts';

/** Who looks after a process from outside. */
export interface ProcessWatches {
  watchMemory: WatchMemory;
  orphanWatch: OrphanWatch;
  /** How long a server to which too much is not sent may read nothing of it. */
  notReadingMs?: number;
}

export const MAX_LINE_BYTES = 10 * 1024 * 1024;
const MAX_PENDING_WRITE_BYTES = 16 * 1024 * 1024;
const NOT_READING_MS = 10_000;
const GRACE_MS = 2000;
const STDERR_TAIL_CHARS = 500;
/** A log may have many lines, up to a rate that does not keep the gateway busy. */
const STDERR_LIMITS = { ...FLOOD_LIMITS, maxMessages: Number.POSITIVE_INFINITY };
/** How long to wait for the last output of a server that ends. */
const LAST_WORDS_MS = 20;

/**
 * MCP over the pipes of a process group. Unlike the SDK's own it ends grandchildren too, passes only the given environment,
 * and ends a server that floods, writes an oversized line, answers what was never asked, takes too much memory or starts too
 * many processes.
 */
export class StdioTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  /** Why the session ended, for the operator. */
  reason = 'closed';
  pid: number | null = null;
  private readonly spec: ProcessSpec;
  private child: GroupLeader | null = null;
  private ending: Promise<void> | null = null;
  private stderrTail = '';
  private readonly watches: ProcessWatches;
  private guarded: Guarded | null = null;
  private stopWatching: ReturnType<WatchMemory> = () => [];
  private readonly incoming = new IncomingGuard();
  private notReading: NodeJS.Timeout | undefined;

  constructor(spec: ProcessSpec, watches: ProcessWatches) {
    this.spec = spec;
    this.watches = watches;
  }

  async start(): Promise<void> {
    const mark = this.watches.orphanWatch.mark();
    // First, where it is found however large the rest is.
    const env = { [mark.name]: mark.value, ...this.spec.env, [mark.name]: mark.value };
    const child = startGroup({ ...this.spec, env });
    this.child = child;
    if (child.pid !== undefined) this.guarded = this.watches.orphanWatch.guard(child.pid, mark);
    await new Promise<void>((resolve, reject) => {
      child.once('spawn', resolve);
      child.once('error', reject);
    });
    this.pid = child.pid ?? null;
    this.limitMemory(child, mark.value);
    child.on('error', (error) => this.end(error.message));
    child.once('exit', (code, signal) => setTimeout(() => this.end(this.exitReason(code, signal)), LAST_WORDS_MS));
    const lines = new LineReader(MAX_LINE_BYTES, (line) => this.receive(line));
    child.stdout.on('data', (chunk: Buffer) => {
      if (!this.ending && !lines.push(chunk)) this.end(`wrote a line of more than ${MAX_LINE_BYTES} bytes`);
    });
    child.stdout.once('end', () => setTimeout(() => this.end('closed its output'), 5 * LAST_WORDS_MS));
    const withinLimits = createFloodGuard(STDERR_LIMITS, () => performance.now());
    child.stderr.on('data', (chunk: Buffer) => {
      if (!withinLimits(chunk.length)) return this.end('flooded its error output');
      this.stderrTail = (this.stderrTail + chunk.toString('utf8')).slice(-STDERR_TAIL_CHARS);
    });
    for (const stream of [child.stdin, child.stdout, child.stderr])
      stream.on('error', (error) => this.onerror?.(error));
  }

  private limitMemory({ pid }: GroupLeader, mark: string): void {
    const { memoryLimitBytes: limitBytes } = this.spec;
    if (pid === undefined) return;
    this.stopWatching = this.watches.watchMemory({ pid, mark, limitBytes }, (reason) => this.end(reason));
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const { child } = this;
    if (!child || this.ending) throw new Error(`the tool server ${this.reason}`);
    this.incoming.sent(message);
    if (!isFew(message) && hasTooMuch(child)) {
      this.incoming.notSent(message);
      this.expectReading(child);
      throw new ServerBusy('the tool server is busy: it has not read what was sent before');
    }
    child.stdin.write(`${JSON.stringify(message)}\n`, () => this.hasRead(child));
  }

  private expectReading(child: GroupLeader): void {
    if (this.ending || !hasTooMuch(child)) return;
    const { notReadingMs = NOT_READING_MS } = this.watches;
    this.notReading ??= setTimeout(() => this.end('stopped reading its input'), notReadingMs);
  }

  private hasRead(child: GroupLeader): void {
    clearTimeout(this.notReading);
    this.notReading = undefined;
    this.expectReading(child);
  }

  close(): Promise<void> {
    this.end('closed');
    return this.ending ?? Promise.resolve();
  }

  private receive(line: string): void {
    if (this.ending) return;
    // Before it is parsed, which takes a second and half a gigabyte for ten megabytes of brackets.
    const isTooMuch = valuesIn(line) > MAX_VALUES;
    const message = isTooMuch ? lostAnswer(line) : messageOf(parseLine(line));
    if (isTooMuch && message === null) return this.end(`sent a message of more than ${MAX_VALUES} values`);
    const problem = this.incoming.problemWith(message, line.length);
    if (problem !== null) return this.end(problem);
    if (message !== null) this.pass(message);
  }

  /** The client describes a message that it did not expect, which fails for one that nests thousands of levels. */
  private pass(message: JSONRPCMessage): void {
    try {
      this.onmessage?.(message);
    } catch (error) {
      this.end(`sent a message that cannot be read: ${error instanceof Error ? error.message : 'failed'}`);
    }
  }

  /** Ends the group, then notifies the client. Only the first call and its reason count. */
  private end(reason: string): void {
    if (this.ending) return;
    this.reason = reason;
    clearTimeout(this.notReading);
    this.ending = this.endProcesses(this.stopWatching()).then(() => {
      for (const stream of [this.child?.stdin, this.child?.stdout, this.child?.stderr]) stream?.destroy();
    });
    this.onclose?.();
  }

  private async endProcesses(strays: readonly ProcessRow[]): Promise<void> {
    const pid = this.child?.pid;
    if (pid === undefined) return;
    await Promise.all([this.guarded?.signalStrays('SIGTERM'), endGroup(pid, GRACE_MS)]);
    await this.guarded?.signalStrays('SIGKILL');
    // What has no mark any more.
    await killProcesses(strays);
    this.guarded?.release();
  }

  private exitReason(code: number | null, signal: NodeJS.Signals | null): string {
    const tail = this.stderrTail.trim().split('\n').at(-1);
    const how = signal ? `ended by ${signal}` : `exited with code ${code}`;
    return tail ? `${how}: ${tail}` : how;
  }
}

const hasTooMuch = ({ stdin }: GroupLeader): boolean => stdin.writableLength > MAX_PENDING_WRITE_BYTES;

/** Pings and the like are small and few. Answers are as many as the requests of the server. */
const isFew = (message: JSONRPCMessage): boolean => 'method' in message && message.method !== 'tools/call';

function parseLine(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return null;
  }
}

/** Null for what is no MCP message; servers that log to stdout are common, so one such line is no reason to end. */
function messageOf(value: unknown): JSONRPCMessage | null {
  return JSONRPCMessageSchema.safeParse(value).data ?? null;
}

/** Where the id stands in an answer: before its result, or behind it. */
const FIRST_ID = /^\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*(\d+)\s*,\s*"result"/;
const LAST_ID = /"id"\s*:\s*(\d+)\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$/;
const ID_CHARS = 200;

/** The error for an answer that takes too long to read; null where it is none. */
function lostAnswer(line: string): JSONRPCMessage | null {
  const found = FIRST_ID.exec(line.slice(0, ID_CHARS)) ?? LAST_ID.exec(line.slice(-ID_CHARS));
  if (!found) return null;
  const message = `it sent a result of more than ${MAX_VALUES} values`;
  return { jsonrpc: '2.0', id: Number(found[1]), error: { code: ErrorCode.InternalError, message } };
}
