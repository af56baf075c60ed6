import type { DefinitionKind } from '../problem.ts';
import { type Row, rows, same, type Schema, sentence, table, variants } from './key-table.ts';

const INTRO = `# Pipelines, library steps and agents: every key

<!-- Generated from crds/src by \`npm run generate\`. Do not edit. -->

A file holds one definition; the \`spec\` of a Kubernetes object is the same body. Unknown keys are errors, and every error names its
line: \`npm run validate -- PATH\` applies the rules of the services. A *template* is Handlebars of at most 65,536 characters, which
names at most two values of a block (\`as |item key|\`) and puts values into its text at no more than 10,000 places, *CEL* is an expression; both can use \`summary severity source pipeline_name run_id team stage labels annotations metadata vars steps context
fan_out run now\`, and the first 1,000 keys of the alert's \`metadata\`. A name that resembles one of these and is none, a step that does not exist or runs later, a
variable that \`vars\` does not declare and an output key that is not in the step's \`output_schema\`, or that the output of a group does not have, are warnings. \`steps.<name>\` has \`status summary confidence trust output next_step_context\`.

An editor with a YAML language server completes and checks a file whose first line is
\`# yaml-language-server: $schema=PATH\`, as in every [sample](../config/samples). The schemas of files are
[pipeline](../crds/schemas/pipeline.schema.json), [library-step](../crds/schemas/library-step.schema.json) and
[agent](../crds/schemas/agent.schema.json); those of objects in a cluster are
[pipeline.object](../crds/schemas/pipeline.object.schema.json), [library-step.object](../crds/schemas/library-step.object.schema.json) and
[agent.object](../crds/schemas/agent.object.schema.json). The image holds them in \`/app/schemas\`; to copy them into a repository:
\`docker run --rm --entrypoint tar signalbox:0.1.0 -C /app -c schemas | tar -x\`.
`;

const PARALLEL_OUTPUT = `
Later steps read the branches \`a\` and \`b\` of the group \`both\` as \`steps.a\` and \`steps.b\`, or together as \`steps.both.output.branches\`: a list, in
their order, of \`name\`, \`status\`, \`summary\`, \`trust\` and \`output\` of each, and nothing else. A branch that did not begin has the status null and an
empty output; \`summary\` of the group itself is null. The list has room for 2 MiB of outputs with their summaries. For an output beyond that it
has \`{"left_out": true}\`, and at most 1 KiB of the summary; the group has the warning \`output_left_out\`, and \`steps.a.output\` still has the whole.
`;
const FAN_OUT_OUTPUT = `
As of a \`parallel\` group, later steps read the branches of the step \`each\` as \`steps.each.output.branches\`, in the order of the items, without those that
did not begin. The name of a branch is \`each/0\` and so on: \`steps["each/0"].output\` in CEL, \`{{steps.[each/0].output}}\` in a template. A
template lists all with \`{{#each steps.each.output.branches}}{{name}}: {{summary}} {{output.action}} {{/each}}\`.
`;

/** The reference of the definition language, as Markdown. */
export function reference(schemas: Record<DefinitionKind, unknown>): string {
  const pipeline = schemas.Pipeline as Schema;
  const { steps, ...keys } = pipeline.properties ?? {};
  const shapes = steps?.items ? variants(steps.items) : [];
  const own = shapes.filter(
    ({ properties }) => properties?.['executor'] ?? properties?.['parallel'] ?? properties?.['fan_out'],
  );
  const shared = sharedKeys(own);
  return [
    INTRO,
    '## Pipeline\n',
    'Name, trigger, limits and messages of a pipeline. `steps` is described below.\n',
    table(rows({ ...pipeline, properties: keys })),
    '## Steps\n',
    'Every entry of `steps` has a `name`, unique in its pipeline, and exactly one of the shapes below. At most 64 entries. With\n`use: NAME` an entry is a library step, and keys of the entry replace those of the library step. The answers of one run, each with its text and the trace\nof its calls, take 16 MiB together, and a step beyond that fails with `output_invalid`; a pipeline that a step starts has as much for itself. All shapes have these keys:\n',
    table(rows({ properties: shared })),
    ...withoutTwins(own).map((shape) => stepSection(shape, new Set(Object.keys(shared)))),
    '## Library step\n',
    'One executor step in a separate file: these keys and those of its executor.\n',
    table(libraryRows(schemas.LibraryStep as Schema)),
    '## Agent\n',
    "The keys of `agent.yaml`; the prompt is in `soul.md` beside it (in a Kubernetes object: `spec.soul`). An agent's version is a\nhash of the prompt and of all keys but `description`, `tags` and `runtime`.\n",
    table(rows(schemas.Agent as Schema)),
  ].join('\n');
}

/** Keys that every shape of a step has. */
function sharedKeys(shapes: Schema[]): Record<string, Schema> {
  const [first, ...others] = shapes.map(({ properties = {} }) => properties);
  return Object.fromEntries(
    Object.entries(first ?? {}).filter(([key, value]) => others.every((properties) => same(properties[key], value))),
  );
}

/** Executors that take the same keys share a section. */
function withoutTwins(shapes: Schema[]): Schema[] {
  const keysOf = ({ properties = {} }: Schema) => Object.entries(properties).filter(([key]) => key !== 'executor');
  return shapes.flatMap((shape, at) => {
    const twin = shapes.findIndex((other) => same(keysOf(other), keysOf(shape)));
    if (twin < at) return [];
    const executors = shapes
      .filter((other) => same(keysOf(other), keysOf(shape)))
      .map(({ properties }) => properties?.['executor']?.const);
    return [
      executors.length < 2 ? shape : { ...shape, properties: { ...shape.properties, executor: { enum: executors } } },
    ];
  });
}

function stepSection({ properties = {}, ...schema }: Schema, shared: ReadonlySet<string>): string {
  const { executor, ...keys } = properties;
  const own = Object.fromEntries(Object.entries(keys).filter(([key]) => !shared.has(key)));
  const about = executor?.description === undefined ? '' : `${sentence(executor.description)}.\n\n`;
  const after = keys['fan_out'] ? FAN_OUT_OUTPUT : keys['parallel'] ? PARALLEL_OUTPUT : '';
  return `### ${titleOf(properties)}\n\n${about}${table(rows({ ...schema, properties: own }))}${after}`;
}

function titleOf({ executor, parallel }: Record<string, Schema>): string {
  if (executor)
    return [executor.const ?? executor.enum ?? []]
      .flat()
      .map((name) => `\`executor: ${String(name)}\``)
      .join(' and ');
  return parallel ? '`parallel`: branches that run at the same time' : '`fan_out`: one branch for each item of a list';
}

/** A library step is one of the executor steps; its own keys are those that all of them have beside their executor's. */
function libraryRows(schema: Schema): Row[] {
  const [first = {}] = variants(schema);
  const own = ['name', 'description', 'tags'].flatMap((key) => {
    const found = first.properties?.[key];
    return found ? [[key, found] as const] : [];
  });
  return rows({ ...first, properties: Object.fromEntries(own) });
}
