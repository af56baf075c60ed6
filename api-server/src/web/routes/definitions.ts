import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import { DefinitionName } from '../../service/fields.ts';
import type { Services } from '../../service/services.ts';
import {
  AgentList,
  DefinitionConfig,
  DefinitionsAnswer,
  PipelineList,
  Reloaded,
  StepList,
} from '../../service/views/definition.ts';
import { route, type Route } from '../route.ts';

const ByName = z.strictObject({ name: DefinitionName });
/** `cr`: as a custom resource, in YAML. */
const Format = z.strictObject({ format: z.literal('cr').optional() });

/** The loaded definitions and their reload (Orchestration 4.1, 4.3). */
export const definitionRoutes = ({ definitions }: Pick<Services, 'definitions'>): Route[] => [
  route({
    method: 'GET',
    url: '/pipelines',
    role: 'viewer',
    id: 'listPipelines',
    tag: 'definitions',
    summary: 'All pipelines in load order',
    answers: { 200: PipelineList },
    handler: () => ({ pipelines: definitions.pipelines() }),
  }),
  route({
    method: 'GET',
    url: '/pipelines/:name',
    role: 'viewer',
    id: 'getPipeline',
    tag: 'definitions',
    summary: 'One pipeline: resolved, and as written',
    params: ByName,
    query: Format,
    answers: { 200: DefinitionConfig },
    refusals: ['not_found'],
    handler: ({ params, query, reply }) =>
      query.format === 'cr'
        ? sendYaml(reply, definitions.asResource('Pipeline', params.name))
        : definitions.pipelineConfig(params.name),
  }),
  route({
    method: 'GET',
    url: '/steps',
    role: 'viewer',
    id: 'listSteps',
    tag: 'definitions',
    summary: 'All library steps',
    answers: { 200: StepList },
    handler: () => ({ steps: definitions.steps() }),
  }),
  route({
    method: 'GET',
    url: '/steps/:name',
    role: 'viewer',
    id: 'getStep',
    tag: 'definitions',
    summary: 'One library step: parsed, and as written',
    params: ByName,
    query: Format,
    answers: { 200: DefinitionConfig },
    refusals: ['not_found'],
    handler: ({ params, query, reply }) =>
      query.format === 'cr'
        ? sendYaml(reply, definitions.asResource('LibraryStep', params.name))
        : definitions.stepConfig(params.name),
  }),
  route({
    method: 'GET',
    url: '/agents',
    role: 'viewer',
    id: 'listAgents',
    tag: 'definitions',
    summary: 'Agents of all backends; a backend that is down, or lists more than 1,000, is named in errors',
    answers: { 200: AgentList },
    handler: () => definitions.agents(),
  }),
  route({
    method: 'GET',
    url: '/definitions',
    role: 'viewer',
    id: 'getDefinitions',
    tag: 'definitions',
    summary: 'Hashes of the loaded definitions, with the problems of the last load',
    answers: { 200: DefinitionsAnswer },
    handler: () => definitions.status(),
  }),
  route({
    method: 'POST',
    url: '/reload',
    role: 'reload',
    id: 'reload',
    tag: 'definitions',
    summary: 'Reload all definitions',
    answers: { 200: Reloaded },
    refusals: ['reload_failed'],
    handler: ({ actor }) => definitions.reload(actor),
  }),
];

const sendYaml = (reply: FastifyReply, text: string) => reply.type('application/yaml; charset=utf-8').send(text);
