import { z } from 'zod';

/** Names of definitions and agents become file names, so the pattern is anchored at both ends (Orchestration 2.8, Gateway 2). */
export const NAME_PATTERN = /^[a-zA-Z0-9][a-zA-Z0-9_-]{0,63}$/;

export function isName(value: unknown): value is string {
  return typeof value === 'string' && NAME_PATTERN.test(value);
}

export const DefinitionName = z
  .string()
  .regex(NAME_PATTERN, 'must be 1 to 64 letters, digits, "_" or "-", beginning with a letter or a digit');
export type DefinitionName = z.infer<typeof DefinitionName>;

const RESERVED_WORDS = new Set(['constructor', 'prototype', '__proto__']);

/** A step's name: a definition name that templates and expressions can also reach as a key. */
export const StepName = DefinitionName.refine((name) => !RESERVED_WORDS.has(name), 'is a reserved word');

/** The form under which templates reach a step whose name contains `-`. */
export function templateName(stepName: string): string {
  return stepName.replaceAll('-', '_');
}
