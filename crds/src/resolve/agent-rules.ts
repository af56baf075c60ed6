import { type Agent, serverOf } from '../kinds/agent.ts';
import { compileJsonSchema } from '../language/json-schema.ts';
import type { Pipeline } from '../kinds/pipeline.ts';
import type { Finding, Loc } from '../problem.ts';
import { available } from '../references/available.ts';
import { suggestions } from '../references/closest-name.ts';
import { isFanOut, isParallel, type ItemStep, type Step } from '../kinds/step.ts';

interface GatewayRules {
  providers?: string[];
  mcp_servers?: Record<string, 'process' | 'image'>;
}

/** Checks an agent against the gateway's configuration, where that is known (Gateway 4). */
export function checkAgent(agent: Agent, soul: string | undefined, gateway: GatewayRules = {}): Finding[] {
  const { output_schema: written } = agent;
  const schema = written === undefined ? null : compileJsonSchema(written);
  return [
    ...(schema && !schema.ok ? [{ loc: ['output_schema'], msg: schema.msg }] : []),
    ...(soul === undefined || soul.trim() === '' ? [emptySoul] : []),
    ...models(agent, gateway),
    ...toolServers(agent.tools, 'tools', agent, gateway),
    ...toolServers(agent.require_approval, 'require_approval', agent, gateway),
  ];
}

const emptySoul: Finding = {
  severity: 'warning',
  loc: [],
  msg: 'has no soul (as a file: soul.md), so the model gets no instructions',
};

function models(agent: Agent, { providers }: GatewayRules): Finding[] {
  if (!providers) return [];
  const named: [Loc, string][] = [
    [['model'], agent.model],
    ...agent.model_fallbacks.map((name, index): [Loc, string] => [['model_fallbacks', index], name]),
  ];
  return named.flatMap(([loc, model]) => {
    const provider = model.includes('/') ? model.slice(0, model.indexOf('/')) : null;
    if (provider === null || providers.includes(provider)) return [];
    return [{ loc, msg: `"${model}" maps to no configured provider`, reason: 'unknown_provider' as const }];
  });
}

function toolServers(
  patterns: readonly string[],
  key: string,
  agent: Agent,
  { mcp_servers: servers }: GatewayRules,
): Finding[] {
  if (!servers) return [];
  return patterns.flatMap((pattern, index) => {
    const server = serverOf(pattern);
    const transport = Object.hasOwn(servers, server) ? servers[server] : undefined;
    const loc = [key, index];
    if (transport === undefined)
      return [{ loc, msg: `"${server}" is not a configured tool server`, reason: 'unknown_server' as const }];
    if (transport === 'image' && agent.runtime.mode === 'process')
      return [
        { loc, msg: `"${server}" runs in an agent's pod only, not in mode process`, reason: 'unknown_server' as const },
      ];
    return [];
  });
}

/** For many pipelines: a warning for each agent of the gateway that one names and that is not defined. */
export function unknownAgents(known: ReadonlySet<string>): (pipeline: Pipeline) => Finding[] {
  const [meant, others] = [suggestions(known), available([...known])];
  return (pipeline) =>
    agentsOfPipeline(pipeline)
      .filter(({ executor, agent }) => executor === 'gateway' && !known.has(agent))
      .map(({ agent, loc }) => ({
        severity: 'warning',
        loc,
        msg: `no agent "${agent}" is defined here${meant(agent) || '.'} ${others}`,
        reason: 'unknown_agent',
      }));
}

interface NamedAgent {
  executor: 'gateway' | 'external';
  agent: string;
  loc: Loc;
}

/** Every agent that a pipeline names, also as a verifier or a judge. */
export const agentsOfPipeline = (pipeline: Pipeline): NamedAgent[] =>
  pipeline.steps.flatMap((step, index) => agentsOf(step, ['steps', index]));

function agentsOf(step: Step, loc: Loc): NamedAgent[] {
  if (isParallel(step))
    return step.parallel.steps.flatMap((branch, index) => executorAgents(branch, [...loc, 'parallel', 'steps', index]));
  return isFanOut(step) ? executorAgents(step.fan_out.step, [...loc, 'fan_out', 'step']) : executorAgents(step, loc);
}

function executorAgents(step: ItemStep, loc: Loc): NamedAgent[] {
  if (step.executor !== 'gateway' && step.executor !== 'external') return [];
  const judges = (['verifier', 'grounding'] as const).flatMap((key) => {
    const judge = step[key];
    return judge ? [{ executor: judge.executor, agent: judge.agent, loc: [...loc, key, 'agent'] }] : [];
  });
  return [{ executor: step.executor, agent: step.agent, loc: [...loc, 'agent'] }, ...judges];
}
