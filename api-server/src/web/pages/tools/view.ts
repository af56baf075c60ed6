import { age, exactTime } from '../format.ts';
import type { GatewayTools, PolicyRule, Tool, ToolServer } from '../../../service/cluster/cluster.ts';
import { jsonTree } from '../run/step/json-tree.ts';
import { plural } from '../runs/row.ts';
import type { StatusLook } from '../status.ts';

const STATES: Record<string, StatusLook> = {
  running: { icon: 'completed', word: 'Running', tone: 'good' },
  starting: { icon: 'running', word: 'Starting', tone: 'live' },
  backoff: { icon: 'failed', word: 'Down, tries again', tone: 'bad' },
  stopped: { icon: 'stopped', word: 'Stopped', tone: 'quiet' },
};
const UNKNOWN = { icon: 'pending', tone: 'quiet' } as const;

/** An image server runs in the pods of agents, so it does not run while there is no pod. */
const IN_NO_POD: StatusLook = { icon: 'stopped', word: 'No running pod', tone: 'quiet' };
const stateOf = ({ transport, state }: ToolServer): StatusLook =>
  transport === 'image' && state !== 'running' ? IN_NO_POD : (STATES[state] ?? { ...UNKNOWN, word: state });

const ACTIONS: Record<string, StatusLook> = {
  allow: { icon: 'completed', word: 'Allow', tone: 'good' },
  deny: { icon: 'cancelled', word: 'Deny', tone: 'bad' },
  require_approval: { icon: 'waiting', word: 'Ask a person', tone: 'wait' },
};

function serverView(server: ToolServer, tools: Tool[], now: number) {
  const own = tools.filter((tool) => tool.server === server.name);
  const since = server.started_at;
  return {
    name: server.name,
    transport: server.transport,
    state: stateOf(server),
    uptime:
      since === null || server.state !== 'running' ? null : `up for ${age(since, now)}`.replace('for now', 'just now'),
    exact: since === null ? '' : exactTime(since),
    restarts: server.restart_count === 0 ? 'no restarts' : plural(server.restart_count, 'restart'),
    restarted: server.restart_count > 0,
    lastError: server.last_error,
    count: plural(server.tool_count, 'tool'),
    tools: own.map(({ name, description, input_schema: schema }) => ({
      name,
      description,
      schema: jsonTree(schema),
    })),
  };
}

const CONDITIONS = [
  ['server', 'server'],
  ['tool', 'tool'],
  ['agent', 'agent'],
  ['input_regex', 'input matches'],
] as const;

const ruleView = (rule: PolicyRule, i: number) => {
  const conditions = CONDITIONS.flatMap(([key, label]) => (rule[key] === null ? [] : [{ label, value: rule[key] }]));
  return {
    number: i + 1,
    look: ACTIONS[rule.action] ?? { ...UNKNOWN, word: rule.action },
    conditions,
    every: conditions.length === 0,
    reason: rule.reason,
  };
};

const PROBLEMS = {
  not_configured: {
    icon: 'info',
    title: 'The gateway is not asked for its tools',
    text: 'Set executors.gateway.rest_url in the configuration of this service to the gateway’s address, for example http://gateway:18780, and start it again.',
  },
  unreachable: {
    icon: 'alert',
    title: 'The gateway does not answer',
    text: 'Agents of the gateway cannot work until it is back. Its log and GET /health say more.',
  },
};

/** Tool servers with their tools, and the tool policy in its order; or why they are unknown. */
export function toolsView(found: GatewayTools, now: number) {
  if (found.kind !== 'found') {
    const why = found.kind === 'unreachable' ? found.message : '';
    return { problem: { ...PROBLEMS[found.kind], bad: found.kind === 'unreachable', why }, count: '' };
  }
  const { servers, tools, policy } = found;
  return {
    problem: null,
    count: `${plural(servers.length, 'server')}, ${plural(tools.length, 'tool')}`,
    servers: servers.map((server) => serverView(server, tools, now)),
    rules: policy.rules.map(ruleView),
    fallback: ACTIONS[policy.default] ?? { ...UNKNOWN, word: policy.default },
  };
}
