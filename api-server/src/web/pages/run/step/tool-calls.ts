import type { ApprovalLine } from '../../../../service/views/approval.ts';
import { duration } from '../../format.ts';
import type { StatusLook } from '../../status.ts';
import { type Budget, type JsonNode, jsonTree } from './json-tree.ts';
import type { ShownStep } from './shown-step.ts';
import { readTrace, type TraceLine, unreadLines } from './trace.ts';

const MAX_RESULT = 60_000;
/** Rows of all inputs and results of a step together. */
const MAX_ROWS = 600;

export interface ToolCallView {
  name: string;
  duration: string;
  input: JsonNode | null;
  tree: JsonNode | null;
  result: string;
  /** The wait for a person, and what became of it; empty where nobody was asked. */
  wait: string;
  look: StatusLook;
}

/** The result of a tool: a tree where it is JSON and there is room, otherwise text. */
function resultView(result: string, rows: Budget): { tree: JsonNode | null; result: string } {
  const cut = result.slice(0, MAX_RESULT);
  if (rows.nodes <= 0 || !/^\s*[[{]/.test(cut) || cut.length < result.length) return { tree: null, result: cut };
  try {
    return { tree: jsonTree(JSON.parse(cut), rows), result: '' };
  } catch {
    return { tree: null, result: cut };
  }
}

const toolOf = ({ server, tool }: Pick<TraceLine, 'server' | 'tool'>): string =>
  [server, tool].filter((part) => part !== '').join(' / ');

const LOOKS = {
  denied: { tone: 'bad', icon: 'cancelled', word: 'Denied by policy' },
  refused: { tone: 'bad', icon: 'cancelled', word: 'Not approved' },
  failed: { tone: 'bad', icon: 'failed', word: 'Error' },
  ok: { tone: 'good', icon: 'completed', word: 'OK' },
  called: { tone: 'quiet', icon: 'completed', word: 'Called' },
  asked: { tone: 'wait', icon: 'waiting', word: 'Waits for approval' },
} as const satisfies Record<string, StatusLook>;

function lookOf({ type, failed }: TraceLine, asked: boolean): StatusLook {
  if (type === 'tool_denied') return asked ? LOOKS.refused : LOOKS.denied;
  if (failed === null) return LOOKS.called;
  return failed ? LOOKS.failed : LOOKS.ok;
}

/** A call and, where a person was asked first, the line of that wait. */
interface Call {
  line: TraceLine;
  asked: TraceLine | null;
}

/** Every call once: the wait for a person belongs to the next call of that tool which began when it was over. */
function callsOf(lines: readonly TraceLine[]): Call[] {
  const open: TraceLine[] = [];
  return lines.flatMap((line): Call[] => {
    if (line.type === 'approval') {
      open.push(line);
      return [];
    }
    if (line.type !== 'tool_call' && line.type !== 'tool_denied') return [];
    const at = open.findIndex((asked) => isWaitOf(asked, line));
    return [{ line, asked: at === -1 ? null : (open.splice(at, 1)[0] ?? null) }];
  });
}

/** By the id of the call, where the backend writes one. */
const isWaitOf = (asked: TraceLine, line: TraceLine): boolean =>
  asked.callId !== '' && line.callId !== '' ? asked.callId === line.callId : toolOf(asked) === toolOf(line);

const DECIDED: Partial<Record<ApprovalLine['status'], string>> = {
  approved: 'approved',
  rejected: 'rejected',
  timed_out: 'nobody decided in time',
  cancelled: 'closed without a decision',
};

/** `: approved by ann`. */
function decisionOf({ status, decided_by: by }: ApprovalLine): string {
  const word = DECIDED[status];
  if (word === undefined) return '';
  return by === null ? `: ${word}` : `: ${word} by ${by}`;
}

/** `Waited 12 s for approval: approved by ann`; empty where nobody was asked. */
function waitOf(asked: TraceLine | null, approval: ApprovalLine | undefined): string {
  if (asked === null) return '';
  return `Waited ${duration(asked.seconds)} for approval${approval === undefined ? '' : decisionOf(approval)}`;
}

/** The tool calls of a step in order, each once; while it runs, those that wait for a person. */
export function toolCalls(step: ShownStep, approvals: readonly ApprovalLine[]): ToolCallView[] {
  const rows: Budget = { nodes: MAX_ROWS };
  const stored = approvals.filter((one) => one.step_name === step.step_name && one.tool !== null);
  const listed = callsOf(readTrace(step.raw_response?.trace)).map(({ line, asked }) => {
    const at = asked === null ? -1 : stored.findIndex(({ tool }) => tool !== null && toolOf(tool) === toolOf(line));
    const approval = at === -1 ? undefined : stored.splice(at, 1)[0];
    const input = line.input ?? approval?.tool?.input;
    return {
      name: toolOf(line) || 'tool',
      duration: duration(line.seconds),
      input: input === undefined ? null : jsonTree(input, rows),
      ...resultView(line.result || line.reason, rows),
      wait: waitOf(asked, approval),
      look: lookOf(line, asked !== null),
    };
  });
  const waiting = stored.filter(({ status }) => status === 'pending');
  const left = unreadLines(step.raw_response?.trace);
  return [...listed, ...waiting.map((one) => waitingCall(one, rows)), ...(left > 0 ? [moreEntries(left)] : [])];
}

const moreEntries = (count: number): ToolCallView => ({
  name: `${count} more entries of the trace`,
  duration: '–',
  input: null,
  tree: null,
  result: 'The API has them all.',
  wait: '',
  look: LOOKS.called,
});

const waitingCall = ({ tool }: ApprovalLine, rows: Budget): ToolCallView => ({
  name: tool === null ? 'tool' : toolOf(tool),
  duration: '–',
  input: tool === null ? null : jsonTree(tool.input, rows),
  tree: null,
  result: '',
  wait: '',
  look: LOOKS.asked,
});
