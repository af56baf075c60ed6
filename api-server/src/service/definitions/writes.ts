import { AppError } from '@signalbox/crds';
import type { FieldError, WriteKind } from '../../definitions/candidate.ts';
import type { Writer } from '../../definitions/write.ts';
import type { Done, RecordChange, Refusal, WriteResult } from '../../definitions/write-result.ts';
import type { Actor } from '../actor.ts';
import type { Action, RecordAction } from '../audit/record.ts';
import type { AgentList } from '../views/definition.ts';
import type { Deleted, Suspended, Validation, Written } from '../views/definition-write.ts';

export type { WriteKind };

export interface DefinitionWritesDeps {
  writer: Writer;
  record: RecordAction;
  listAgents(): Promise<AgentList>;
}

/** Changes pipelines and library steps at runtime (Orchestration 4.5). All functions throw an error with the type of the refusal. */
export interface DefinitionWrites {
  create(kind: WriteKind, input: { yaml: string; overwrite: boolean }, actor: Actor): Promise<Written>;
  update(kind: WriteKind, input: { name: string; yaml: string }, actor: Actor): Promise<Written>;
  remove(kind: WriteKind, name: string, actor: Actor): Promise<Deleted>;
  /** The reasons why a write would be refused; writes nothing. Throws for a shell check where none is allowed. */
  validate(kind: WriteKind, yaml: string): Promise<Validation>;
  /** The same for a page, which lists a shell check with the other errors. */
  judge(kind: WriteKind, yaml: string): Promise<Validation>;
  /** Suspends or resumes a pipeline. */
  suspend(name: string, suspended: boolean, actor: Actor): Promise<Suspended>;
}

interface Place {
  /** The noun in messages. */
  noun: string;
  /** The kind in the audit log. */
  targetType: 'pipeline' | 'step';
  /** The configuration key of its folder. */
  key: string;
}

const PLACES: { [kind in WriteKind]: Place } = {
  Pipeline: { noun: 'pipeline', targetType: 'pipeline', key: 'pipeline_config_dir' },
  LibraryStep: { noun: 'library step', targetType: 'step', key: 'step_library_dir' },
};

export function createDefinitionWrites({ writer, record, listAgents }: DefinitionWritesDeps): DefinitionWrites {
  const carryOut = (kind: WriteKind, by: Change, change: (record: RecordChange) => Promise<WriteResult>) =>
    carriedOut(record, PLACES[kind], by, change);
  const judge = async (kind: WriteKind, yaml: string) => {
    const { forbiddenShell, ...judged } = await writer.validate(kind, {
      yaml,
      agentNames: await gatewayAgents(listAgents),
    });
    return { forbiddenShell, validation: { valid: judged.errors.length === 0, ...judged } };
  };
  return {
    create: async (kind, input, actor) => {
      const done = await carryOut(kind, { action: 'create', actor }, (row) => writer.create(kind, input, row));
      return { config: done.config, committed: false, note: noteOf(PLACES[kind], done) };
    },
    update: async (kind, input, actor) => {
      const done = await carryOut(kind, { action: 'update', actor }, (row) => writer.update(kind, input, row));
      return { config: done.config, committed: false, note: noteOf(PLACES[kind], done) };
    },
    remove: async (kind, name, actor) => {
      const done = await carryOut(kind, { action: 'delete', actor }, (row) => writer.remove(kind, name, row));
      return { deleted: name, yaml: done.priorYaml ?? '', committed: false, note: noteOf(PLACES[kind], done) };
    },
    validate: async (kind, yaml) => {
      const { forbiddenShell, validation } = await judge(kind, yaml);
      if (forbiddenShell) throw refusalError(PLACES[kind], null, { kind: 'invalid', errors: validation.errors });
      return validation;
    },
    judge: async (kind, yaml) => (await judge(kind, yaml)).validation,
    suspend: async (name, suspended, actor) => {
      const by: Change = { action: suspended ? 'suspend' : 'resume', actor };
      const done = await carryOut('Pipeline', by, (row) => writer.suspend(name, suspended, row));
      return { config: done.config, suspended, committed: false, note: noteOf(PLACES.Pipeline, done) };
    },
  };
}

/** Undefined where the gateway does not answer: then nothing is known of its agents. */
async function gatewayAgents(listAgents: DefinitionWritesDeps['listAgents']): Promise<string[] | undefined> {
  const { agents, errors } = await listAgents();
  if ('gateway' in errors) return undefined;
  return agents.filter(({ executor }) => executor === 'gateway').map(({ name }) => name);
}

interface Change {
  action: 'create' | 'update' | 'delete' | 'suspend' | 'resume';
  actor: Actor;
}

/** Refusals that get an audit row; invalid YAML gets none. */
const LOGGED = new Set(['collision', 'managed', 'reload_failed']);

/** Runs a change, writes its row, and turns a refusal into its typed error. */
async function carriedOut(
  record: RecordAction,
  place: Place,
  { action, actor }: Change,
  change: (record: RecordChange) => Promise<WriteResult>,
): Promise<Done> {
  const row = (done: Omit<Action, 'action' | 'targetType'>) =>
    record(actor, { action, targetType: place.targetType, ...done });
  const result = await change(({ name, outcome, priorYaml }) => row({ target: name, outcome, priorYaml }));
  if (result.ok) return result.done;
  const error = refusalError(place, result.name, result.refusal);
  if (LOGGED.has(error.type)) await row({ target: result.name, outcome: error.type });
  throw error;
}

function refusalError({ noun, key }: Place, name: string | null, refusal: Refusal): AppError {
  const quoted = `${noun} "${name}"`;
  switch (refusal.kind) {
    case 'invalid':
      return new AppError('validation', `the ${noun} is not valid: ${textOf(refusal.errors)}`, {
        extra: { errors: refusal.errors },
      });
    case 'not_found':
      return new AppError('not_found', `no ${noun} is named "${name}"`);
    case 'collision':
      return new AppError(
        'collision',
        refusal.inTheWay
          ? `the file for ${quoted} contains another definition; move it and reload`
          : `${quoted} exists; set overwrite: true to replace it`,
      );
    case 'managed':
      return new AppError('managed', `${quoted} is managed by ${ownerOf(refusal)}; change it there`, {
        extra: { managed_by: refusal.object },
      });
    case 'breaks':
      return new AppError('reload_failed', `nothing was changed, because it would break ${brokenBy(refusal)}`, {
        extra: { errors: refusal.errors },
      });
    case 'no_folder':
      return new AppError('conflict', `there is no folder to write to; set ${key} and restart the service`, {
        extra: { key },
      });
    case 'unavailable':
      return new AppError(
        'unavailable',
        `the folder ${key} cannot be written to (${codeOf(refusal.cause)}); nothing was changed`,
        { cause: refusal.cause },
      );
    default:
      return refusal satisfies never;
  }
}

function textOf(errors: readonly FieldError[]): string {
  const [first] = errors;
  return first === undefined ? '' : `${first.loc.length > 0 ? `${first.loc.join('.')}: ` : ''}${first.msg}`;
}

const ownerOf = ({ object }: Extract<Refusal, { kind: 'managed' }>) =>
  object === null ? 'a custom resource' : `${object.kind} ${object.namespace}/${object.name}`;

function brokenBy({ errors }: Extract<Refusal, { kind: 'breaks' }>): string {
  const [first] = errors;
  return first === undefined ? 'another definition' : `${first.kind} "${first.name}": ${textOf([first])}`;
}

const codeOf = (cause: unknown): string =>
  cause instanceof Error && 'code' in cause && typeof cause.code === 'string' ? cause.code : 'failed';

/** The next step for the caller: the service never commits to Git. */
function noteOf({ noun, key }: Place, { kind, name, file }: Done): string {
  const where = `${key}/${file}`;
  if (kind === 'unchanged') return `${noun} "${name}" is unchanged; nothing was written`;
  if (kind === 'deleted')
    return `${noun} "${name}" and ${where} were deleted, but nothing was committed: delete the file in your Git repository too, or the next rollout restores it`;
  return `${noun} "${name}" is live in ${where}, but nothing was committed: commit that file to your Git repository to keep the change`;
}
