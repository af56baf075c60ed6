import { mkdirSync } from 'node:fs';
import { judgeSchemaIn } from '@signalbox/crds/process/compute';
import { createRest } from '@signalbox/crds/process/rest';
import type { AgentRecord } from '../agents/agent-record.ts';
import { knownNames } from '../agents/known-names.ts';
import { AgentRegistry, type LoadReport } from '../agents/registry.ts';
import type { Stages, OpenedAgents } from './stages.ts';

/** The registry, with no agent loaded yet. */
export function openAgents({
  config,
  models,
  compute,
}: Pick<Stages, 'config' | 'models' | 'compute'>): OpenedAgents | { ok: false; message: string } {
  try {
    mkdirSync(config.agents_dir, { recursive: true });
  } catch (error) {
    return { ok: false, message: `agents_dir: ${error instanceof Error ? error.message : 'cannot be made'}` };
  }
  const known = knownNames(config, models);
  const judge = judgeSchemaIn(compute, config.security.compute_timeout_ms);
  const { agents_dir: agentsDir, managed_dir: managedDir } = config;
  const registry = new AgentRegistry({ agentsDir, managedDir, known, judge, rest: createRest() });
  const hasPod = ({ config: agent, managedBy }: AgentRecord) =>
    known.modeOf(agent, managedBy !== null) === 'kubernetes';
  return { ok: true, registry, known, judge, hasPod };
}

/** Reads all agents from disk and connects to the pods of those that have one. */
export async function reloadAgents({
  agents,
  pods,
  log,
}: Pick<Stages, 'agents' | 'pods' | 'log'>): Promise<LoadReport> {
  const { registry, hasPod } = agents;
  const report = await registry.load();
  pods?.retain(report.agents.filter(hasPod));
  for (const { agent, field, message, severity } of report.errors)
    log.warn({ agent, field, problem: message }, severity === 'error' ? 'agent not loaded' : 'agent warning');
  const errors = report.errors.filter(({ severity }) => severity === 'error').length;
  log.info({ agents: report.agents.length, errors, warnings: report.errors.length - errors }, 'agents loaded');
  return report;
}
