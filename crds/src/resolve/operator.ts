import type { TenancyRules } from './standing.ts';

/** The part of the operator's configuration that rules need; without it these rules are skipped. */
export interface Operator {
  providers?: string[];
  mcp_servers?: Record<string, 'process' | 'image'>;
  allow_shell_checks?: boolean;
  pipeline_env?: string[];
  template_sandbox?: boolean;
  tenancy?: TenancyRules;
}
