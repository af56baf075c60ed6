import type { TokenRole } from '../config/config.ts';

/** The caller of an operation, for its checks and its audit row (Orchestration 2.12). */
export interface Actor {
  /** A token's name, or `<platform>:<user id>`. */
  name: string;
  kind: 'token' | 'chat' | 'system';
  role: TokenRole | null;
  requestId: string | null;
}
