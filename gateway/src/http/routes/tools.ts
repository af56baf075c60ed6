import { z } from 'zod';
import type { DecidePolicy, PolicyRuleView } from '../../policy/policy.ts';
import type { ServedTool, ToolServerView } from '../../tools/tool-servers.ts';
import { PolicyRuleRow, ToolRow, ToolServerRow } from '../schemas.ts';
import { type Route, route } from '../route.ts';

export interface ToolRoutesDeps {
  servers: () => ToolServerView[];
  tools: () => ServedTool[];
  policy: { default: 'allow' | 'deny'; rules: PolicyRuleView[] };
  decide: DecidePolicy;
}

const TestedCall = z.strictObject({
  server: z.string().min(1).max(200),
  tool: z.string().min(1).max(200),
  agent: z.string().max(200).default(''),
  input: z.record(z.string(), z.unknown()).default({}),
});

/** Tool servers, their tools and the operator's policy (Gateway 4, Design 6). */
export function toolRoutes(deps: ToolRoutesDeps): Route[] {
  return [
    route({
      method: 'GET',
      path: '/mcp/servers',
      scope: 'invoke',
      summary: 'Tool servers and their state',
      response: z.object({ servers: z.array(ToolServerRow) }),
      handle: () => ({ json: { servers: deps.servers() } }),
    }),
    route({
      method: 'GET',
      path: '/mcp/tools',
      scope: 'invoke',
      summary: 'All tools of all tool servers',
      response: z.object({ tools: z.array(ToolRow) }),
      handle: () => ({ json: { tools: toolRows(deps) } }),
    }),
    route({
      method: 'GET',
      path: '/tool-policy',
      scope: 'invoke',
      summary: "The operator's rules, in order",
      response: z.object({ default: z.enum(['allow', 'deny']), rules: z.array(PolicyRuleRow) }),
      handle: () => ({ json: deps.policy }),
    }),
    route({
      method: 'POST',
      path: '/tool-policy/test',
      scope: 'admin',
      summary: 'What the policy says about a call, without one',
      body: TestedCall,
      response: z.object({
        action: z.enum(['allow', 'deny', 'require_approval']),
        rule: z.int().nullable(),
        reason: z.string().nullable(),
      }),
      handle: ({ body }) => ({ json: deps.decide({ ...body, input: JSON.stringify(body.input) }) }),
    }),
  ];
}

function toolRows(deps: ToolRoutesDeps): z.infer<typeof ToolRow>[] {
  const hashes = new Map(deps.servers().map(({ name, tools_hash }) => [name, tools_hash]));
  return deps.tools().map(({ server, name, description, inputSchema, annotations }) => ({
    server,
    name,
    description,
    input_schema: inputSchema,
    annotations: { ...annotations },
    tools_hash: hashes.get(server) ?? null,
  }));
}
