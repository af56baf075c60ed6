/** docs/configuration.md, from the schemas that read the configuration files. */
import { z } from 'zod';
import { ConfigFile } from '../../api-server/src/config/schema.ts';
import { rows, type Schema, table } from '../../crds/src/generate/key-table.ts';
import { GatewayConfig } from '../../gateway/src/config/schema.ts';
import { TOOL_SERVER_SHAPES } from '../../gateway/src/config/tool-server-schema.ts';

const INTRO = `# Configuration

<!-- Generated from the configuration schemas by \`npm run generate\`. Do not edit. -->

Each service reads one YAML file: \`npm run api-server -- --config FILE\`, \`npm run gateway -- --config FILE\`. Unknown keys, bad values and missing
files end the start with one line that names the file and the key. Relative paths are relative to the file. \`\${NAME}\` in a string is replaced by the
environment variable, or by nothing where it is not set, after the YAML was parsed, so a value can never add YAML.

[config/local](../config/local) is a complete pair; \`npm run demo\` runs it. A minimal pair:

\`\`\`yaml
# api-server.yaml
pipeline_config_dir: pipelines
database: { url: "sqlite:signalbox.db" }
dedup: { window_seconds: 300 }
executors:
  gateway: { url: "ws://127.0.0.1:18780/rpc", rest_url: "http://127.0.0.1:18780", token: "\${GATEWAY_INVOKE_TOKEN}" }
auth:
  tokens:
    - { name: alertmanager, role: webhook, token: "\${WEBHOOK_TOKEN}" }
    - { name: me, role: admin, token: "\${ADMIN_TOKEN}" }
\`\`\`

\`\`\`yaml
# gateway.yaml
agents_dir: agents
providers:
  anthropic: { type: anthropic, api_key: "\${ANTHROPIC_API_KEY}", default: true }
tool_policy: { default: deny }
\`\`\`

\`GATEWAY_ADMIN_TOKEN\` and \`GATEWAY_INVOKE_TOKEN\`, both or none, replace the tokens that the gateway generates at its first start.
A \`device-auth.json\` that exists all the same is a warning in the log: a tool server may have written it, and without the variables its tokens are valid.
To renew generated tokens, stop the gateway, then delete \`device-auth.json\` and start it. Give \`identity_dir\` a folder that holds nothing else: then isolated tool servers cannot write in it.
\`GATEWAY_APPROVE_TOKEN\` adds the token that may also answer tool approvals: give it to the api-server as \`executors.gateway.token\`. A model name is
\`PROVIDER/MODEL\`; without a provider the default one is used. SIGTERM drains and stops, SIGHUP reloads definitions or agents.
`;

/** The text of docs/configuration.md; throws and names the keys without a description. */
export function configReference(): string {
  return [INTRO, ...service('api-server', ConfigFile), ...service('gateway', GatewayConfig)].join('\n');
}

/** The keys without a description, as paths; a key below a list is `list[].key`. */
export function undescribed(schema: z.ZodType): string[] {
  return rows(written(schema)).flatMap(({ key, meaning }) => (meaning === '' ? [key] : []));
}

function service(name: string, schema: z.ZodType): string[] {
  const silent = undescribed(schema);
  if (silent.length > 0) throw new Error(`${name}: no .describe() on ${silent.join(', ')}`);
  const blocks = Object.entries(written(schema).properties ?? {});
  const isBlock = ([, value]: [string, Schema]) => rows({ properties: { value } }).length > 1;
  const plain = Object.fromEntries(blocks.filter((entry) => !isBlock(entry)));
  return [
    `## ${name}\n`,
    table(rows({ properties: plain })),
    ...blocks.filter(isBlock).map(([key, value]) => {
      const [about, ...keys] = rows({ properties: { [key]: value } });
      return `### ${name}: \`${key}\`\n\n${about?.meaning}.\n\n${table(keys)}`;
    }),
  ];
}

/** What may be written: before values are read from their text forms and blocks are filled with defaults. */
function written(schema: z.ZodType): Schema {
  return z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any', override: seeThrough }) as Schema;
}

type Override = NonNullable<z.core.ToJSONSchemaParams['override']>;

/** Describes the schema behind preprocessors and defaults, which JSON Schema cannot express. */
function seeThrough({ zodSchema, jsonSchema }: Parameters<Override>[0]): void {
  const { def } = zodSchema._zod;
  if (def.type === 'default') jsonSchema.default = def.defaultValue;
  if (def.type === 'object')
    jsonSchema.required = jsonSchema.required?.filter((key) => !z.safeParse(def.shape[key]!, undefined).success);
  if (def.type !== 'pipe') return;
  const from = (def.in as z.core.$ZodTypes)._zod.def.type;
  if (from === 'transform') Object.assign(jsonSchema, { ...inner(def.out), ...jsonSchema });
  if (from === 'unknown') Object.assign(jsonSchema, { anyOf: TOOL_SERVER_SHAPES.map(inner) });
}

const inner = (schema: z.core.$ZodType): Schema => {
  const { $schema: _, ...rest } = written(schema as z.ZodType) as Schema & { $schema?: string };
  return rest;
};
