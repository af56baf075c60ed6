import type { KeyObject } from 'node:crypto';
import { DefinitionName, plainIssues } from '@signalbox/crds';
import { z } from 'zod';
import { readPublicKeys } from '../identity/runner-token.ts';

/** The settings of a runner. None is secret; its agent comes from the gateway over the connection. */
export interface RunnerSettings {
  agent: string;
  /** Of the agent's object. */
  namespace?: string | undefined;
  publicKeys: KeyObject[];
  host: string;
  port: number;
  /** How long runs may go on after SIGTERM. */
  drainSeconds: number;
  logLevel: 'debug' | 'info' | 'warn' | 'error';
}
export type RunnerSettingsResult = { ok: true; settings: RunnerSettings } | { ok: false; message: string };

const Environment = z.object({
  AGENT_NAME: DefinitionName,
  AGENT_NAMESPACE: z.string().min(1).optional(),
  GATEWAY_PUBLIC_KEY: z.string(),
  RUNNER_HOST: z.string().min(1).default('0.0.0.0'),
  RUNNER_PORT: z.coerce.number().int().min(0).max(65_535).default(18_781),
  RUNNER_DRAIN_SECONDS: z.coerce.number().min(0).max(86_400).default(25),
  LOG_LEVEL: z.enum(['debug', 'info', 'warn', 'error']).default('info'),
});

/** Reads `AGENT_NAME`, `AGENT_NAMESPACE`, `GATEWAY_PUBLIC_KEY` (PEM, several possible), `RUNNER_HOST`, `RUNNER_PORT`, `RUNNER_DRAIN_SECONDS`, `LOG_LEVEL`. A failure is one line. */
export function readRunnerSettings(env: Readonly<Record<string, string | undefined>>): RunnerSettingsResult {
  const parsed = Environment.safeParse(env);
  if (!parsed.success) {
    const [issue] = plainIssues(parsed.error.issues);
    return { ok: false, message: `${issue?.path.join('.') ?? 'environment'}: ${issue?.msg ?? 'not valid'}` };
  }
  const {
    AGENT_NAME: agent,
    AGENT_NAMESPACE: namespace,
    GATEWAY_PUBLIC_KEY,
    RUNNER_HOST: host,
    RUNNER_PORT: port,
    RUNNER_DRAIN_SECONDS: drainSeconds,
    LOG_LEVEL: logLevel,
  } = parsed.data;
  const publicKeys = readPublicKeys(GATEWAY_PUBLIC_KEY);
  if (!publicKeys) return { ok: false, message: 'GATEWAY_PUBLIC_KEY: must be Ed25519 public keys in PEM' };
  return { ok: true, settings: { agent, namespace, publicKeys, host, port, drainSeconds, logLevel } };
}
