import type { TokenRole } from '../config/config.ts';

/** The caller of an operation, for its checks and its audit row (Orchestration 2.12). */
export interface Actor {
  /** A token's name, also where an assistant uses it over MCP, or `<platform>:<user id>`. */
  name: string;
  kind: 'token' | 'mcp' | 'chat' | 'system';
  role: TokenRole | null;
  requestId: string | null;
}
