/** Kinds of time on the timeline, in the order of the legend, with their names there. */
export const KINDS = {
  queue: 'queue',
  slot: 'slot',
  restart: 'before a restart',
  agent: 'agent call',
  model: 'model',
  tool: 'tool',
  approval: 'approval',
  webhook: 'webhook',
  sub_run: 'sub-run',
  pause: 'pause before a retry',
  verifier: 'verifier',
  grounding: 'grounding judge',
  check: 'check',
} as const;
export type PartKind = keyof typeof KINDS;

/** Attempts of executors that are no agent, which bear its name. */
export const ATTEMPT_NAMES: Partial<Record<PartKind, string>> = { webhook: 'Webhook', sub_run: 'Sub-run' };

/** A stretch of a step's time with a bar of its own, in milliseconds since the epoch. */
export interface Part {
  kind: PartKind;
  label: string;
  from: number;
  /** Null while it goes on. */
  to: number | null;
  /** What came of it, where that is more than time. */
  note: string;
  failed: boolean;
  /** An attempt of an executor: what happened inside of it has parts of its own. */
  holds: boolean;
}

export const part = (given: Pick<Part, 'kind' | 'label' | 'from' | 'to'> & Partial<Part>): Part => ({
  note: '',
  failed: false,
  holds: false,
  ...given,
});

/** What holds others comes first, then what began first. */
export const inOrder = (parts: readonly Part[]): Part[] =>
  parts.toSorted((a, b) => a.from - b.from || Number(b.holds) - Number(a.holds));
