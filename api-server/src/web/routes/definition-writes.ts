import { z } from 'zod';
import type { WriteKind } from '../../service/definitions/writes.ts';
import { DefinitionName } from '../../service/fields.ts';
import type { Services } from '../../service/services.ts';
import { component } from '../../service/views/answer.ts';
import { Deleted, Suspended, Validation, Written } from '../../service/views/definition-write.ts';
import { route, type Route } from '../route.ts';

const ByName = z.strictObject({ name: DefinitionName });
const YAML = {
  yaml: 'name: host-load\nsteps:\n  - {name: look, executor: gateway, agent: sre, prompt_template: "{{summary}}"}\n',
};
const Yaml = component('DefinitionText', z.strictObject({ yaml: z.string() }), YAML);
const Creation = component('NewDefinition', Yaml.extend({ overwrite: z.boolean().default(false) }), YAML);

type Deps = Pick<Services, 'definitionWrites'>;

/** Changing pipelines and library steps while the service runs (Orchestration 4.5). */
export const definitionWriteRoutes = (deps: Deps): Route[] => [
  ...writesOf('Pipeline', { url: '/pipelines', noun: 'pipeline', name: 'Pipeline' }, deps),
  ...writesOf('LibraryStep', { url: '/steps', noun: 'library step', name: 'Step' }, deps),
  ...[true, false].map((suspended) =>
    route({
      method: 'POST',
      url: `/pipelines/:name/${suspended ? 'suspend' : 'resume'}`,
      role: 'admin',
      id: suspended ? 'suspendPipeline' : 'resumePipeline',
      tag: 'definitions',
      summary: suspended ? 'Suspend a pipeline: no new run of it starts' : 'Resume a suspended pipeline',
      params: ByName,
      answers: { 200: Suspended },
      refusals: ['not_found', 'managed', 'conflict', 'unavailable'],
      handler: ({ params, actor }) => deps.definitionWrites.suspend(params.name, suspended, actor),
    }),
  ),
];

interface Place {
  url: '/pipelines' | '/steps';
  noun: string;
  /** In the names of operations. */
  name: string;
}

const writesOf = (kind: WriteKind, { url, noun, name }: Place, { definitionWrites }: Deps): Route[] => [
  route({
    method: 'POST',
    url,
    role: 'admin',
    id: `create${name}`,
    tag: 'definitions',
    summary: `Create a ${noun}; its YAML contains the name`,
    body: Creation,
    answers: { 200: Written },
    refusals: ['collision', 'managed', 'reload_failed', 'unavailable'],
    handler: ({ body, actor }) => definitionWrites.create(kind, body, actor),
  }),
  route({
    method: 'POST',
    url: `${url}/validate`,
    role: 'admin',
    id: `validate${name}`,
    tag: 'definitions',
    summary: `Validate a ${noun} without writing it`,
    body: Yaml,
    answers: { 200: Validation },
    handler: ({ body }) => definitionWrites.validate(kind, body.yaml),
  }),
  route({
    method: 'PUT',
    url: `${url}/:name`,
    role: 'admin',
    id: `update${name}`,
    tag: 'definitions',
    summary: `Replace a ${noun}`,
    params: ByName,
    body: Yaml,
    answers: { 200: Written },
    refusals: ['not_found', 'managed', 'reload_failed', 'unavailable', 'conflict'],
    handler: ({ params, body, actor }) => definitionWrites.update(kind, { name: params.name, ...body }, actor),
  }),
  route({
    method: 'DELETE',
    url: `${url}/:name`,
    role: 'admin',
    id: `delete${name}`,
    tag: 'definitions',
    summary: `Delete a ${noun}; answers its YAML`,
    params: ByName,
    answers: { 200: Deleted },
    refusals: ['not_found', 'managed', 'reload_failed', 'unavailable', 'conflict'],
    handler: ({ params, actor }) => definitionWrites.remove(kind, params.name, actor),
  }),
];
