import { type DefinitionKind } from '../problem.ts';
import { at, type Schema, writtenSchemas } from './json-schemas.ts';
import { statusSchema } from './status.ts';
import { toStructural } from './structural.ts';

export const GROUP = 'signalbox.dev';
export const VERSION = 'v1alpha1';

interface Column {
  name: string;
  type: 'string' | 'date' | 'integer' | 'boolean';
  jsonPath: string;
  description?: string;
  priority?: number;
}
interface Rule {
  rule: string;
  message: string;
}
interface KindInfo {
  plural: string;
  short: string;
  description: string;
  spec: string;
  columns: Column[];
  rules: Rule[];
  /** Paths of the `scale` subresource. */
  scale?: Schema;
}

const condition = (type: string, name = type): Column => ({
  name,
  type: 'string',
  jsonPath: `.status.conditions[?(@.type=="${type}")].status`,
});
const age: Column = { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' };
const reason: Column = {
  name: 'Reason',
  type: 'string',
  jsonPath: '.status.conditions[?(@.type=="Ready")].reason',
  priority: 1,
};
const nameRule = (max: number, why: string): Rule => ({
  rule: `self.metadata.name.size() <= ${max}`,
  message: `metadata.name holds at most ${max} characters${why}`,
});

export const KINDS: Record<DefinitionKind, KindInfo> = {
  Pipeline: {
    plural: 'pipelines',
    short: 'sbp',
    description: 'Pipeline says which alerts start a run, and the steps of that run with the evidence they must leave.',
    spec: 'The definition; name may be left out, metadata.name stands in for it.',
    columns: [
      { name: 'Stage', type: 'string', jsonPath: '.status.stage' },
      condition('Ready'),
      condition('Synced'),
      { name: 'Last run', type: 'date', jsonPath: '.status.lastRun.triggeredAt' },
      { name: 'Suspended', type: 'boolean', jsonPath: '.spec.suspend' },
      age,
      reason,
    ],
    rules: [],
  },
  LibraryStep: {
    plural: 'librarysteps',
    short: 'sbs',
    description: 'LibraryStep is one step that pipelines take over with use:, setting what they want otherwise.',
    spec: 'One executor step; name may be left out, metadata.name stands in for it.',
    columns: [
      { name: 'Executor', type: 'string', jsonPath: '.spec.executor' },
      condition('Ready'),
      condition('Synced'),
      age,
      reason,
    ],
    rules: [],
  },
  Agent: {
    plural: 'agents',
    short: 'sba',
    description:
      'Agent is a model, its instructions and the tools it may call; it runs in its own pods unless spec.runtime.mode is process.',
    spec: 'The keys of agent.yaml, and soul: the instructions.',
    columns: [
      { name: 'Model', type: 'string', jsonPath: '.spec.model' },
      condition('Ready'),
      condition('Synced'),
      { name: 'Version', type: 'string', jsonPath: '.status.agentVersion', priority: 1 },
      age,
      reason,
    ],
    scale: {
      specReplicasPath: '.spec.runtime.replicas',
      statusReplicasPath: '.status.scale.replicas',
      labelSelectorPath: '.status.scale.selector',
    },
    rules: [
      nameRule(50, ', because objects made for it carry it in their names'),
      {
        rule: "self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",
        message: 'metadata.name must be one label that begins with a letter, without dots',
      },
    ],
  },
};

/** The CustomResourceDefinition of each kind. */
export function customResourceDefinitions(): Record<DefinitionKind, Schema> {
  const written = writtenSchemas();
  return {
    Pipeline: definition('Pipeline', pipelineSpec(written.Pipeline)),
    LibraryStep: definition('LibraryStep', specOf(written.LibraryStep)),
    Agent: definition('Agent', agentSpec(written.Agent)),
  };
}

function definition(kind: DefinitionKind, spec: Schema): Schema {
  const { plural, short, columns, scale } = KINDS[kind];
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${GROUP}`, annotations: { 'helm.sh/resource-policy': 'keep' } },
    spec: {
      group: GROUP,
      scope: 'Namespaced',
      names: {
        kind,
        listKind: `${kind}List`,
        plural,
        singular: kind.toLowerCase(),
        shortNames: [short],
        categories: ['signalbox'],
      },
      versions: [
        {
          name: VERSION,
          served: true,
          storage: true,
          subresources: { status: {}, ...(scale ? { scale } : {}) },
          additionalPrinterColumns: columns,
          schema: { openAPIV3Schema: root(kind, spec) },
        },
      ],
    },
  };
}

function root(kind: DefinitionKind, spec: Schema): Schema {
  const { description, rules, spec: about } = KINDS[kind];
  return {
    type: 'object',
    description,
    required: ['spec'],
    properties: {
      apiVersion: { type: 'string' },
      kind: { type: 'string' },
      metadata: { type: 'object' },
      spec: { description: about, ...spec },
      status: statusSchema(),
    },
    ...(rules.length > 0 ? { 'x-kubernetes-validations': rules } : {}),
  };
}

/** `spec.name` is optional in an object: `metadata.name` stands in for it. */
function specOf(schema: Schema): Schema {
  const structural = toStructural(schema);
  const required = ((structural['required'] ?? []) as string[]).filter((key) => key !== 'name');
  const { required: _all, ...rest } = structural;
  at(rest, 'properties', 'name')['description'] = 'the name of the definition where it cannot be metadata.name';
  return required.length > 0 ? { ...rest, required } : rest;
}

const ONE_SHAPE: Rule = {
  rule: '[has(self.use), has(self.executor), has(self.parallel), has(self.fan_out)].filter(given, given).size() == 1',
  message: 'an entry has exactly one of use, executor, parallel and fan_out',
};
const UNIQUE_NAMES: Rule = {
  rule: 'self.all(a, self.exists_one(b, b.name == a.name))',
  message: 'step names must be unique',
};
const SOME_BUDGET: Rule = {
  rule: 'has(self.max_tokens) || has(self.max_cost)',
  message: 'needs max_tokens or max_cost',
};

function pipelineSpec(schema: Schema): Schema {
  const spec = specOf(schema);
  const steps = at(spec, 'properties', 'steps');
  steps['description'] =
    'The entries of a run, in order; each has a name and exactly one of use, executor, parallel and fan_out.';
  steps['x-kubernetes-validations'] = [UNIQUE_NAMES];
  at(steps, 'items')['x-kubernetes-validations'] = [ONE_SHAPE];
  at(steps, 'items', 'properties', 'name')['maxLength'] = 64;
  at(spec, 'properties', 'budget')['x-kubernetes-validations'] = [SOME_BUDGET];
  return spec;
}

function agentSpec(schema: Schema): Schema {
  const spec = specOf(schema);
  const properties = spec['properties'] as Record<string, Schema>;
  properties['soul'] = {
    type: 'string',
    maxLength: 131_072,
    description: 'The instructions of the agent, as Markdown (soul.md).',
  };
  return spec;
}
