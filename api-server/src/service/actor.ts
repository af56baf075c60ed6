import type { TokenRole } from '../config/config.ts';

/** Who asks for an operation, for its checks and its row in the audit log (Orchestration 2.12). */
export interface Actor {
  /** A token's name, or `<platform>:<user id>`. */
  name: string;
  kind: 'token' | 'chat' | 'system';
  role: TokenRole | null;
  requestId: string | null;
}
