import { z } from 'zod';
import { component } from './component.ts';

export const ToolServerList = component(
  'ToolServerList',
  z.object({
    servers: z.array(
      z.object({
        name: z.string(),
        transport: z.enum(['stdio', 'http', 'image']),
        isolation: z.enum(['user', 'namespace', 'none']).nullable(),
        running: z.boolean(),
        state: z.enum(['starting', 'running', 'backoff', 'stopped']),
        pid: z.int().nullable(),
        tool_count: z.int(),
        restart_count: z.int(),
        started_at: z.string().nullable(),
        last_error: z.string().nullable(),
        tools_hash: z.string().nullable(),
        tools_pinned: z.boolean(),
      }),
    ),
  }),
  {
    servers: [
      {
        name: 'metrics',
        transport: 'stdio',
        isolation: 'namespace',
        running: true,
        state: 'running',
        pid: 4711,
        tool_count: 3,
        restart_count: 0,
        started_at: '2026-03-01T09:15:00.000Z',
        last_error: null,
        tools_hash: '9b1d0c44e2aa7f3e5d60b1c28a94f7710c3be6d54f0289ab61d7e3f45c20918d',
        tools_pinned: false,
      },
    ],
  },
);

export const ToolList = component(
  'ToolList',
  z.object({
    tools: z.array(
      z.object({
        server: z.string(),
        name: z.string(),
        description: z.string(),
        input_schema: z.record(z.string(), z.unknown()),
        annotations: z.record(z.string(), z.unknown()),
        tools_hash: z.string().nullable(),
        disabled: z.boolean().describe('the tools of its server changed, and tool_pinning is enforce'),
      }),
    ),
  }),
  {
    tools: [
      {
        server: 'metrics',
        name: 'query',
        description: 'Runs a query',
        input_schema: { type: 'object' },
        annotations: { readOnlyHint: true },
        tools_hash: '9b1d0c44e2aa7f3e5d60b1c28a94f7710c3be6d54f0289ab61d7e3f45c20918d',
        disabled: false,
      },
    ],
  },
);
export type ToolList = z.infer<typeof ToolList>;

const PolicyAction = z.enum(['allow', 'deny', 'require_approval']);

export const ToolPolicy = component(
  'ToolPolicy',
  z.object({
    default: z.enum(['allow', 'deny']),
    rules: z.array(
      z.object({
        index: z.int(),
        action: PolicyAction,
        server: z.string().nullable(),
        tool: z.string().nullable(),
        agent: z.string().nullable(),
        input_regex: z.string().nullable(),
        reason: z.string().nullable(),
      }),
    ),
  }),
  {
    default: 'deny',
    rules: [
      {
        index: 0,
        action: 'allow',
        server: 'metrics',
        tool: '*',
        agent: null,
        input_regex: null,
        reason: null,
      },
    ],
  },
);

export const TestedCall = component(
  'TestedCall',
  z.strictObject({
    server: z.string().min(1).max(200),
    tool: z.string().min(1).max(200),
    agent: z.string().max(200).default(''),
    input: z.record(z.string(), z.unknown()).default({}),
  }),
  { server: 'metrics', tool: 'query', agent: 'triage', input: { query: 'up' } },
);

export const PolicyDecision = component(
  'PolicyDecision',
  z.object({ action: PolicyAction, rule: z.int().nullable(), reason: z.string().nullable() }),
  { action: 'allow', rule: 0, reason: null },
);
