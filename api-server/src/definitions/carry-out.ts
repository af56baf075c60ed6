import { basename } from 'node:path';
import { type Candidate, type Edit, forbiddenShell, tryEdit } from './candidate.ts';
import type { DefinitionFiles } from './definition-files.ts';
import type { Turn, TurnResult } from './registry.ts';
import { type Change, type Done, type RecordChange, type Refusal, refuse, type WriteResult } from './write-result.ts';

export interface Plan {
  edit: Edit & { name: string };
  outcome: Change;
  /** The current text; null for a new definition. */
  prior: string | null;
}

type Tried = { candidate: Candidate; refusal: Extract<Refusal, { kind: 'invalid' | 'breaks' }> | null };

/** Validates an edit without writing; `refusal` is the reason why a write is refused. `judgeShell`: also refuse its shell checks. */
export async function tried(turn: Turn, edit: Edit, judgeShell = true): Promise<Tried> {
  const candidate = await tryEdit(turn, edit);
  const errors = [...candidate.errors, ...(judgeShell ? forbiddenShell(candidate, edit) : [])];
  if (errors.length > 0) return { candidate, refusal: { kind: 'invalid', errors } };
  const { breaks } = candidate;
  return { candidate, refusal: breaks.length > 0 ? { kind: 'breaks', errors: breaks } : null };
}

/** Validates the set, stages the file, writes the audit row, renames the file into place, replaces the snapshot (Orchestration 4.5). */
export async function carryOut(
  turn: Turn,
  files: DefinitionFiles,
  plan: Plan,
  record: RecordChange,
): Promise<TurnResult<WriteResult>> {
  const { edit, outcome, prior } = plan;
  const { name } = edit;
  // Existing shell checks are no reason to refuse to suspend a pipeline.
  const { candidate, refusal } = await tried(turn, edit, outcome === 'created' || outcome === 'updated');
  if (refusal) return refuse(name, refusal);
  const staged = await attempt(() => stage(files, edit));
  if (!staged.ok) return refuse(name, staged.refusal);
  try {
    await record({ name, outcome, priorYaml: prior });
  } catch (error) {
    await staged.value.discard();
    throw error;
  }
  const placed = await attempt(staged.value.commit);
  if (!placed.ok) {
    await record({ name, outcome: 'failed', priorYaml: prior });
    return refuse(name, placed.refusal);
  }
  const { read, snapshot } = candidate;
  return { result: { ok: true, done: done(plan, candidate) }, adopt: { read, snapshot } };
}

function stage(files: DefinitionFiles, { file, text }: Edit) {
  if (text !== null) return files.stage(file, text);
  return Promise.resolve({ commit: () => files.remove(file), discard: () => Promise.resolve() });
}

function done({ edit, outcome, prior }: Plan, { snapshot }: Candidate): Done {
  const { name, kind, file } = edit;
  const served = kind === 'Pipeline' ? snapshot.byName.get(name) : snapshot.stepsByName.get(name);
  const config = outcome === 'deleted' ? null : (served?.config ?? null);
  return { kind: outcome, name, config, priorYaml: prior, file: basename(file) };
}

type Attempt<T> = { ok: true; value: T } | { ok: false; refusal: Refusal };

async function attempt<T>(job: () => Promise<T>): Promise<Attempt<T>> {
  try {
    return { ok: true, value: await job() };
  } catch (cause) {
    return { ok: false, refusal: { kind: 'unavailable', cause } };
  }
}
