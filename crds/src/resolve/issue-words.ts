import type { z } from 'zod';
import { meantKey } from './meant-key.ts';

/** A problem and its location. */
export interface PlainIssue {
  path: PropertyKey[];
  msg: string;
  /** The value of a key that is not allowed is not checked. */
  unknownKey: boolean;
}

/** Zod's issues in words; each unknown key is a separate issue with its own location, and names the key of `schema` that was meant. */
export const plainIssues = (issues: readonly z.core.$ZodIssue[], schema?: z.ZodType): PlainIssue[] =>
  issues.flatMap((issue): PlainIssue[] =>
    issue.code === 'unrecognized_keys'
      ? issue.keys.map((key) => {
          const msg = `unknown key${schema ? meantKey(key, schema) : ''}`;
          return { path: [...issue.path, key], msg, unknownKey: true };
        })
      : [{ path: issue.path, msg: issueWords(issue), unknownKey: false }],
  );

/** The problem of a value, worded to follow its location: `is required`, `needs at least 1 item`, `must be at most 200`. */
export function issueWords(issue: z.core.$ZodIssue): string {
  if (issue.code === 'invalid_type' && issue.message.endsWith('received undefined')) return 'is required';
  // Messages that a schema defines itself are kept.
  if (issue.code === 'too_small' && issue.message.startsWith('Too small')) return atLeast(issue);
  if (issue.code === 'too_big' && issue.message.startsWith('Too big')) return atMost(issue);
  return issue.message
    .replace(/^Invalid (?:input|option|string): /, '')
    .replace(/^Invalid input$/, 'is not valid')
    .replace(/^expected record,/, 'expected object,');
}

type Bound<Code> = Extract<z.core.$ZodIssue, { code: Code }>;

function atLeast({ origin, minimum, inclusive }: Bound<'too_small'>): string {
  const unit = UNITS[origin];
  if (unit !== undefined) return `needs at least ${counted(minimum, unit)}`;
  return `must be ${inclusive === false ? 'more than' : 'at least'} ${minimum}`;
}

function atMost({ origin, maximum, inclusive }: Bound<'too_big'>): string {
  const unit = UNITS[origin];
  if (unit !== undefined) return `may have at most ${counted(maximum, unit)}`;
  return `must be ${inclusive === false ? 'less than' : 'at most'} ${maximum}`;
}

const UNITS: Partial<Record<string, string>> = {
  string: 'character',
  array: 'item',
  set: 'item',
  map: 'key',
  object: 'key',
  file: 'byte',
};

const counted = (count: number | bigint, unit: string) => `${count} ${unit}${Number(count) === 1 ? '' : 's'}`;
