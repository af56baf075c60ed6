export type Fault = 'missing' | 'type' | 'limit';

/** Why an evaluation ended early. */
export class Stop extends Error {
  readonly reason: Fault;

  constructor(reason: Fault, msg: string) {
    super(msg);
    this.reason = reason;
  }
}

/** The remaining steps of an evaluation; throws `Stop` when there are none. */
export interface Budget {
  spend: (steps: number) => void;
}

export function typeName(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  if (value instanceof Date) return 'a timestamp';
  if (value instanceof Duration) return 'a duration';
  return NAMES[typeof value] ?? typeof value;
}

const NAMES: Record<string, string> = {
  string: 'a string',
  number: 'a number',
  bigint: 'an integer',
  boolean: 'a boolean',
  object: 'a map',
};

export class Duration {
  readonly ms: number;

  constructor(ms: number) {
    this.ms = ms;
  }
}
