import { basename } from 'node:path';
import {
  type Edit,
  type FieldError,
  fileFor,
  findDefinition,
  forbiddenShell,
  type Found,
  nameIn,
  type WriteKind,
} from './candidate.ts';
import { carryOut, tried } from './carry-out.ts';
import type { DefinitionFiles } from './definition-files.ts';
import { withSuspend } from './edit-suspend.ts';
import { managedObject } from './managed-object.ts';
import type { Folders } from './read-all.ts';
import type { Registry, Turn, TurnResult } from './registry.ts';
import { type RecordChange, type Refusal, refuse, type WriteResult } from './write-result.ts';

/** A text to judge; `agentNames` are those of the gateway, absent where they are not known. */
export type Asked = { yaml: string } & Pick<Edit, 'agentNames'>;

/** The reasons why a write of a text would be refused, and what it would be warned of. */
export interface Judged {
  errors: FieldError[];
  warnings: FieldError[];
  /** Whether one of the errors is a shell check where none is allowed. */
  forbiddenShell: boolean;
}

export interface Writer {
  create(kind: WriteKind, input: { yaml: string; overwrite: boolean }, record: RecordChange): Promise<WriteResult>;
  update(kind: WriteKind, input: { name: string; yaml: string }, record: RecordChange): Promise<WriteResult>;
  remove(kind: WriteKind, name: string, record: RecordChange): Promise<WriteResult>;
  suspend(name: string, wanted: boolean, record: RecordChange): Promise<WriteResult>;
  /** Writes nothing. */
  validate(kind: WriteKind, asked: Asked): Promise<Judged>;
}

export interface WriterDeps {
  registry: Pick<Registry, 'change' | 'look'>;
  folders: Folders;
  files: DefinitionFiles;
}

type Ended = Promise<TurnResult<WriteResult>>;

/** Placeholder file name of a text without a name; dot files are never read. */
const NAMELESS = '.new.yaml';
const NO_NAME: Refusal = { kind: 'invalid', errors: [{ loc: ['name'], msg: 'is required' }] };

/**
 * Changes definitions one at a time: validates the whole set in memory, writes one file, then replaces the snapshot
 * (Orchestration 4.5). The name is read from the text; an existing definition stays in its file.
 */
export function createWriter(deps: WriterDeps): Writer {
  const { registry } = deps;
  return {
    create: (kind, input, record) => registry.change((turn) => create({ ...deps, turn, kind, record }, input)),
    update: (kind, { name, yaml }, record) =>
      registry.change((turn) =>
        withEditable({ ...deps, turn, kind, record }, name, (found) =>
          update({ ...deps, turn, kind, record }, { name, yaml, found }),
        ),
      ),
    remove: (kind, name, record) =>
      registry.change((turn) =>
        withEditable({ ...deps, turn, kind, record }, name, ({ file, text }) =>
          carryOut(
            turn,
            deps.files,
            { edit: { kind, name, file, text: null }, outcome: 'deleted', prior: text },
            record,
          ),
        ),
      ),
    suspend: (name, wanted, record) =>
      registry.change((turn) =>
        withEditable({ ...deps, turn, kind: 'Pipeline', record }, name, (found) =>
          suspend({ ...deps, turn, kind: 'Pipeline', record }, { name, wanted, found }),
        ),
      ),
    validate: async (kind, asked) => validate(await registry.look(), folderOf(deps, kind), { kind, ...asked }),
  };
}

interface WriteContext extends WriterDeps {
  turn: Turn;
  kind: WriteKind;
  record: RecordChange;
}

const folderOf = ({ folders }: WriterDeps, kind: WriteKind) =>
  kind === 'Pipeline' ? folders.pipelineDir : folders.stepDir;

/** Runs `next` with an existing definition that is not managed. */
async function withEditable(context: WriteContext, name: string, goOn: (found: Found) => Ended): Ended {
  const found = findDefinition(context.turn, context.kind, name);
  if (!found) return refuse(name, { kind: 'not_found' });
  return found.managed ? refuse(name, await managedBy(context, found)) : goOn(found);
}

const managedBy = async ({ folders }: WriterDeps, { file }: Found): Promise<Refusal> => ({
  kind: 'managed',
  object: folders.managedDir === null ? null : await managedObject(folders.managedDir, file),
});

async function create(context: WriteContext, { yaml, overwrite }: { yaml: string; overwrite: boolean }): Ended {
  const { turn, kind, files, record } = context;
  const name = nameIn(yaml);
  if (name === null) {
    const { refusal } = await tried(turn, { kind, name, file: NAMELESS, text: yaml });
    return refuse(null, refusal ?? NO_NAME);
  }
  const found = findDefinition(turn, kind, name);
  const place = found ? await mayReplace(context, found, overwrite) : await freePlace(context, name);
  if (typeof place !== 'string') return refuse(name, place);
  const edit = { kind, name, file: place, text: yaml };
  return carryOut(turn, files, { edit, outcome: found ? 'updated' : 'created', prior: found?.text ?? null }, record);
}

async function mayReplace(context: WriteContext, found: Found, overwrite: boolean): Promise<string | Refusal> {
  if (found.managed) return managedBy(context, found);
  return overwrite ? found.file : { kind: 'collision', inTheWay: false };
}

/** The file for a new name; it may contain another definition. */
async function freePlace(context: WriteContext, name: string): Promise<string | Refusal> {
  const folder = folderOf(context, context.kind);
  if (folder === null) return { kind: 'no_folder' };
  const file = fileFor(folder, name);
  try {
    return (await context.files.exists(file)) ? { kind: 'collision', inTheWay: true } : file;
  } catch (cause) {
    return { kind: 'unavailable', cause };
  }
}

async function update(context: WriteContext, input: { name: string; yaml: string; found: Found }): Ended {
  const { name, yaml, found } = input;
  const { turn, kind, files, record } = context;
  const written = nameIn(yaml);
  if (written !== null && written !== name) {
    const msg = `must be "${name}", as in the address; to rename, delete and create`;
    return refuse(name, { kind: 'invalid', errors: [{ loc: ['name'], msg }] });
  }
  const edit = { kind, name, file: found.file, text: yaml };
  return carryOut(turn, files, { edit, outcome: 'updated', prior: found.text }, record);
}

async function suspend(context: WriteContext, input: { name: string; wanted: boolean; found: Found }): Ended {
  const { name, wanted, found } = input;
  const { turn, kind, files, record } = context;
  const pipeline = turn.before.byName.get(name);
  if (pipeline?.text === found.text && pipeline.config.suspend === wanted) {
    await record({ name, outcome: 'unchanged', priorYaml: found.text });
    const done = { kind: 'unchanged', name, config: pipeline.config, priorYaml: found.text } as const;
    return { result: { ok: true, done: { ...done, file: basename(found.file) } }, adopt: null };
  }
  const edit = { kind, name, file: found.file, text: withSuspend(found.text ?? '', wanted) };
  return carryOut(turn, files, { edit, outcome: wanted ? 'suspended' : 'resumed', prior: found.text }, record);
}

async function validate(
  turn: Turn,
  folder: string | null,
  { kind, yaml, agentNames }: Asked & { kind: WriteKind },
): Promise<Judged> {
  const name = nameIn(yaml);
  const own = name === null ? NAMELESS : fileFor(folder ?? '', name);
  const file = (name === null ? null : findDefinition(turn, kind, name)?.file) ?? own;
  const edit: Edit = { kind, name, file, text: yaml, agentNames };
  const { candidate, refusal } = await tried(turn, edit);
  const { warnings } = candidate;
  return { errors: errorsOf(refusal), warnings, forbiddenShell: forbiddenShell(candidate, edit).length > 0 };
}

function errorsOf(refusal: Awaited<ReturnType<typeof tried>>['refusal']): FieldError[] {
  switch (refusal?.kind) {
    case 'invalid':
      return refusal.errors;
    case 'breaks':
      return refusal.errors.map(({ kind: of, name: other, loc, msg }) => ({
        loc,
        msg: `breaks ${of} "${other}": ${msg}`,
      }));
    case undefined:
      return [];
    default:
      return refusal satisfies never;
  }
}
