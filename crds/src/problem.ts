/** A location in a definition: keys and list indexes from the root of the body. */
export type Loc = (string | number)[];

export type DefinitionKind = 'Pipeline' | 'LibraryStep' | 'Agent';

/**
 * Why a definition is refused or warned about; `shell_not_allowed` is a separate reason because the write API refuses
 * what the loader only warns about (Orchestration 4.5).
 */
export type ProblemReason =
  | 'invalid'
  | 'syntax'
  | 'too_large'
  | 'missing_step'
  | 'missing_pipeline'
  | 'unknown_agent'
  | 'unknown_provider'
  | 'unknown_server'
  | 'name_conflict'
  | 'cycle'
  | 'too_deep'
  | 'shell_not_allowed'
  | 'env_not_allowed'
  | 'not_allowed'
  | 'no_effect'
  | 'unknown_name';

/** One thing wrong with one definition. `line` and `col` count from 1. */
export interface Problem {
  severity: 'error' | 'warning';
  kind: DefinitionKind | null;
  name: string | null;
  file: string;
  loc: Loc;
  msg: string;
  line?: number;
  col?: number;
  reason: ProblemReason;
}

/** A problem without its file. */
export interface Finding {
  severity?: 'error' | 'warning';
  loc: Loc;
  msg: string;
  reason?: ProblemReason;
}
