import { mkdirSync } from 'node:fs';
import type { AgentRecord } from '../agents/agent-record.ts';
import { knownNames } from '../agents/known-names.ts';
import { AgentRegistry, type LoadReport } from '../agents/registry.ts';
import type { Stages, OpenedAgents } from './stages.ts';

/** The registry, with no agent loaded yet. */
export function openAgents({
  config,
  models,
}: Pick<Stages, 'config' | 'models'>): OpenedAgents | { ok: false; message: string } {
  try {
    mkdirSync(config.agents_dir, { recursive: true });
  } catch (error) {
    return { ok: false, message: `agents_dir: ${error instanceof Error ? error.message : 'cannot be made'}` };
  }
  const known = knownNames(config, models);
  const registry = new AgentRegistry({ agentsDir: config.agents_dir, managedDir: config.managed_dir, known });
  const hasPod = ({ config: agent, managedBy }: AgentRecord) =>
    known.modeOf(agent, managedBy !== null) === 'kubernetes';
  return { ok: true, registry, known, hasPod };
}

/** Reads all agents from disk and connects to the pods of those that have one. */
export function reloadAgents({ agents, pods, log }: Pick<Stages, 'agents' | 'pods' | 'log'>): LoadReport {
  const { registry, hasPod } = agents;
  const report = registry.load();
  pods?.retain(report.agents.filter(hasPod));
  for (const { agent, field, message, severity } of report.errors)
    log.warn({ agent, field, problem: message }, severity === 'error' ? 'agent not loaded' : 'agent warning');
  const errors = report.errors.filter(({ severity }) => severity === 'error').length;
  log.info({ agents: report.agents.length, errors, warnings: report.errors.length - errors }, 'agents loaded');
  return report;
}
