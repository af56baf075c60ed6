import type { DecidePolicy, PolicyRuleView } from '../../policy/policy.ts';
import type { ServedTool, ToolServerView } from '../../tools/tool-servers.ts';
import type { App } from '../app.ts';
import { PolicyDecision, TestedCall, ToolList, ToolPolicy, ToolServerList } from '../schemas/tools.ts';

export interface ToolRoutesDeps {
  servers: () => Promise<ToolServerView[]>;
  tools: () => Promise<(ServedTool & { disabled: boolean })[]>;
  policy: { default: 'allow' | 'deny'; rules: PolicyRuleView[] };
  decide: DecidePolicy;
}

/** Tool servers, their tools and the operator's policy (Gateway 4). */
export const toolRoutes = (deps: ToolRoutesDeps) => (app: App) => {
  app.route({
    method: 'GET',
    url: '/mcp/servers',
    config: { scope: 'invoke' },
    schema: {
      operationId: 'listToolServers',
      tags: ['tools'],
      summary: 'Tool servers and their state',
      response: { 200: ToolServerList },
    },
    handler: async () => ({ servers: await deps.servers() }),
  });

  app.route({
    method: 'GET',
    url: '/mcp/tools',
    config: { scope: 'invoke' },
    schema: {
      operationId: 'listTools',
      tags: ['tools'],
      summary: 'All tools of all tool servers, with those that pinning disables',
      response: { 200: ToolList },
    },
    handler: async () => ({ tools: await toolRows(deps) }),
  });

  app.route({
    method: 'GET',
    url: '/tool-policy',
    config: { scope: 'invoke' },
    schema: {
      operationId: 'getToolPolicy',
      tags: ['tools'],
      summary: "The operator's rules, in order",
      response: { 200: ToolPolicy },
    },
    handler: () => deps.policy,
  });

  app.route({
    method: 'POST',
    url: '/tool-policy/test',
    config: { scope: 'admin' },
    schema: {
      operationId: 'testToolPolicy',
      tags: ['tools'],
      summary: 'What the policy decides about a call, without calling the tool',
      body: TestedCall,
      response: { 200: PolicyDecision },
    },
    handler: ({ body }) => deps.decide({ ...body, input: JSON.stringify(body.input) }),
  });
};

async function toolRows(deps: ToolRoutesDeps): Promise<ToolList['tools']> {
  const [servers, tools] = await Promise.all([deps.servers(), deps.tools()]);
  const hashes = new Map(servers.map(({ name, tools_hash }) => [name, tools_hash]));
  return tools.map(({ server, name, description, inputSchema, annotations, disabled }) => ({
    server,
    name,
    description,
    input_schema: inputSchema,
    annotations: { ...annotations },
    tools_hash: hashes.get(server) ?? null,
    disabled,
  }));
}
