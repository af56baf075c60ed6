import type { GatewayConfig } from '../config/schema.ts';
import { parsePodAddress } from '../pods/pod-addresses.ts';
import { lintPolicy } from '../policy/lint-policy.ts';
import type { PolicyRuleView } from '../policy/policy.ts';

/** What the configuration says without an effect, or not as it was probably meant; each with its key. */
export function lintConfig(config: GatewayConfig, rules: readonly PolicyRuleView[]): string[] {
  return [...lintPolicy(rules, Object.keys(config.mcp_servers)), ...unusedHashes(config), ...badAddresses(config)];
}

function unusedHashes({ mcp_servers, tool_pinning }: GatewayConfig): string[] {
  if (tool_pinning !== 'off') return [];
  return Object.entries(mcp_servers)
    .filter(([, { tools_hash }]) => tools_hash !== undefined)
    .map(([name]) => `mcp_servers.${name}.tools_hash: is not compared with anything while tool_pinning is off`);
}

function badAddresses({ runtime: { agents } }: GatewayConfig): string[] {
  return Object.entries(agents).flatMap(([agent, addresses]) =>
    [addresses]
      .flat()
      .filter((address) => parsePodAddress(address) === null)
      .map((address) => `runtime.agents.${agent}: "${address}" is no address; use host, host:port or wss://host:port`),
  );
}
