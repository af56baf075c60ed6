import { AppError } from '@signalbox/crds';
import { z } from 'zod';
import type { FieldError, WriteKind } from '../../definitions/candidate.ts';
import type { Writer } from '../../definitions/write.ts';
import type { Done, RecordChange, Refusal, WriteResult } from '../../definitions/write-result.ts';
import { auditBy, type AuditDeps, type Deed } from '../auth/audit-by.ts';
import { DefinitionName } from '../fields.ts';
import { type Call, route, type Route } from '../route.ts';

export interface DefinitionWriteDeps extends AuditDeps {
  writer: Writer;
}

interface Place {
  kind: WriteKind;
  url: '/pipelines' | '/steps';
  /** As people say it, and as the audit log does. */
  noun: string;
  targetType: 'pipeline' | 'step';
  key: string;
}

const PIPELINES: Place = {
  kind: 'Pipeline',
  url: '/pipelines',
  noun: 'pipeline',
  targetType: 'pipeline',
  key: 'pipeline_config_dir',
};
const STEPS: Place = {
  kind: 'LibraryStep',
  url: '/steps',
  noun: 'library step',
  targetType: 'step',
  key: 'step_library_dir',
};

const ByName = z.strictObject({ name: DefinitionName });
const Yaml = z.strictObject({ yaml: z.string() });
const Creation = Yaml.extend({ overwrite: z.boolean().default(false) });

/** Changing pipelines and library steps while the service runs (Orchestration 4.5, Design 5). */
export const definitionWriteRoutes = (deps: DefinitionWriteDeps): Route[] => [
  ...writesOf(PIPELINES, deps),
  ...writesOf(STEPS, deps),
  ...(['suspend', 'resume'] as const).map((word) =>
    route({
      method: 'POST',
      url: `/pipelines/:name/${word}`,
      role: 'admin',
      summary:
        word === 'suspend' ? 'Let nothing start runs of a pipeline' : 'Let a suspended pipeline start runs again',
      params: ByName,
      handler: async (call) => {
        const { name } = call.params;
        const site = { place: PIPELINES, action: word };
        const done = await carriedOut(deps, call, site, (record) =>
          deps.writer.suspend(name, word === 'suspend', record),
        );
        return { config: done.config, suspended: word === 'suspend', committed: false, note: noteOf(PIPELINES, done) };
      },
    }),
  ),
];

const writesOf = (place: Place, deps: DefinitionWriteDeps): Route[] => [
  route({
    method: 'POST',
    url: place.url,
    role: 'admin',
    summary: `Create a ${place.noun}; its YAML says the name`,
    body: Creation,
    handler: async (call) => {
      const site: Site = { place, action: 'create' };
      const done = await carriedOut(deps, call, site, (record) => deps.writer.create(place.kind, call.body, record));
      return { config: done.config, committed: false, note: noteOf(place, done) };
    },
  }),
  route({
    method: 'POST',
    url: `${place.url}/validate`,
    role: 'admin',
    summary: `Say what a write of this ${place.noun} would be refused for`,
    body: Yaml,
    handler: async ({ body }) => {
      const errors = await deps.writer.validate(place.kind, body.yaml);
      return { valid: errors.length === 0, errors };
    },
  }),
  route({
    method: 'PUT',
    url: `${place.url}/:name`,
    role: 'admin',
    summary: `Replace a ${place.noun}`,
    params: ByName,
    body: Yaml,
    handler: async (call) => {
      const { name } = call.params;
      const input = { name, yaml: call.body.yaml };
      const done = await carriedOut(deps, call, { place, action: 'update' }, (record) =>
        deps.writer.update(place.kind, input, record),
      );
      return { config: done.config, committed: false, note: noteOf(place, done) };
    },
  }),
  route({
    method: 'DELETE',
    url: `${place.url}/:name`,
    role: 'admin',
    summary: `Delete a ${place.noun}; answers its YAML`,
    params: ByName,
    handler: async (call) => {
      const { name } = call.params;
      const done = await carriedOut(deps, call, { place, action: 'delete' }, (record) =>
        deps.writer.remove(place.kind, name, record),
      );
      return { deleted: name, yaml: done.priorYaml ?? '', committed: false, note: noteOf(place, done) };
    },
  }),
];

interface Site {
  place: Place;
  action: 'create' | 'update' | 'delete' | 'suspend' | 'resume';
}

/** Refusals that somebody who reads the log wants to see; what was merely written wrongly leaves no row. */
const LOGGED = new Set(['collision', 'managed', 'reload_failed']);

/** Runs a change, writes its row, and turns a refusal into its typed error. */
async function carriedOut(
  deps: DefinitionWriteDeps,
  call: Pick<Call<unknown, unknown, unknown>, 'caller' | 'request'>,
  { place, action }: Site,
  change: (record: RecordChange) => Promise<WriteResult>,
): Promise<Done> {
  const write = auditBy(deps, call);
  const row = (deed: Omit<Deed, 'action' | 'targetType'>) => write({ action, targetType: place.targetType, ...deed });
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
          ? `a file that holds something else is in the way of ${quoted}; move it and reload`
          : `${quoted} exists; say overwrite: true to replace it`,
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
      return new AppError('conflict', `there is no folder to write to; set ${key} and start again`, { extra: { key } });
    case 'unavailable':
      return new AppError(
        'unavailable',
        `the folder ${key} takes no writes now (${codeOf(refusal.cause)}); nothing was changed`,
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

/** What to do next: the service never commits. */
function noteOf({ noun, key }: Place, { kind, name, file }: Done): string {
  const where = `${key}/${file}`;
  if (kind === 'unchanged') return `${noun} "${name}" was so already; nothing was written`;
  if (kind === 'deleted')
    return `${noun} "${name}" is gone and ${where} removed, but nothing was committed: remove the file from your Git repository too, or it comes back with the next roll-out`;
  return `${noun} "${name}" is live and stands in ${where}, but nothing was committed: commit that file to your Git repository to keep the change`;
}
