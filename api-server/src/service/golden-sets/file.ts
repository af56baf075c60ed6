import { AppError } from '@signalbox/crds';
import { z } from 'zod';
import { OUTCOMES } from '../../runs/state/model.ts';
import { LABEL_SOURCES } from '../../store/tables/labels/outcome.ts';
import type { GoldenMember } from '../../store/tables/replay/golden-members.ts';
import type { GoldenSet } from '../../store/tables/replay/golden-sets.ts';
import { DefinitionName, line, RunId, StepName, freeText } from '../fields.ts';
import { MAX_MEMBERS } from './pinnable.ts';

const SetLine = z.strictObject({
  golden_set: DefinitionName,
  step_name: DefinitionName,
  description: freeText(1_000),
});

const MemberLine = z.strictObject({
  step_id: line(200),
  run_id: RunId,
  step_name: StepName,
  outcome: z.enum(OUTCOMES),
  label_source: z.enum(LABEL_SOURCES),
  note: freeText(1_000).nullable(),
  pinned_at: z.iso.datetime().transform((at) => Date.parse(at)),
  pinned_by: line(),
  prompt_hash: line().nullable(),
  agent_version: line().nullable(),
});

export type NumberedLine = z.output<typeof MemberLine> & { number: number };

export interface GoldenFile {
  set: { name: string; step_name: string; description: string };
  members: NumberedLine[];
}

/** A set as a file for Git: no ids of this installation but those of the executions, and always the same order. */
export function writeGoldenFile(set: GoldenSet, members: readonly GoldenMember[]): string {
  const head = { golden_set: set.name, step_name: set.stepName, description: set.description };
  const rows = members.map((member) => ({
    step_id: member.stepId,
    run_id: member.runId,
    step_name: member.stepName,
    outcome: member.outcome,
    label_source: member.labelSource,
    note: member.note,
    pinned_at: new Date(member.pinnedAt).toISOString(),
    pinned_by: member.pinnedBy,
    prompt_hash: member.promptHash,
    agent_version: member.agentVersion,
  }));
  return [head, ...rows].map((row) => `${JSON.stringify(row)}\n`).join('');
}

/** Throws `validation` that names the line. */
export function readGoldenFile(content: string): GoldenFile {
  const lines = content.split('\n').flatMap((raw, at) => (raw.trim() === '' ? [] : [{ raw, number: at + 1 }]));
  const [head, ...rest] = lines;
  if (head === undefined) throw invalid(1, 'the file is empty; its first line is the golden set');
  if (rest.length > MAX_MEMBERS)
    throw invalid(rest[MAX_MEMBERS]?.number ?? 1, `a golden set has at most ${MAX_MEMBERS} members`);
  const { golden_set: name, ...set } = parsed(SetLine, head);
  return { set: { name, ...set }, members: rest.map((row) => ({ ...parsed(MemberLine, row), number: row.number })) };
}

function parsed<S extends z.ZodType>(schema: S, { raw, number }: { raw: string; number: number }): z.output<S> {
  const result = schema.safeParse(json(raw, number));
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const key = issue?.path.join('.');
  throw invalid(number, `${key ? `${key}: ` : ''}${issue?.message ?? 'is not valid'}`);
}

function json(raw: string, number: number): unknown {
  try {
    return JSON.parse(raw);
  } catch (cause) {
    throw invalid(number, 'is not JSON', cause);
  }
}

export const invalid = (number: number, msg: string, cause?: unknown) =>
  new AppError('validation', `line ${number}: ${msg}`, {
    cause,
    extra: { errors: [{ loc: ['body', 'jsonl', number], msg }] },
  });
