import type { Usage } from '@signalbox/crds';

interface ToolFields {
  call_id: string;
  server: string;
  tool: string;
}

/** An event of a run, as sent to its watchers; the publisher adds `run_id` and `ts`. */
export type RunEvent =
  | { event: 'accepted' }
  | { event: 'queued'; position: number }
  | { event: 'started' }
  | { event: 'llm_call'; iteration: number; model: string; provider: string; usage: Usage; duration_ms: number }
  | { event: 'llm_retry'; model: string; provider: string; attempt: number; delay_ms: number; reason: string }
  | { event: 'model_fallback'; from: string; to: string; reason: string }
  | { event: 'text'; text: string }
  | ({ event: 'tool_call'; input: unknown } & ToolFields)
  | ({ event: 'tool_result'; is_error: boolean; result: string; duration_ms: number } & ToolFields)
  | ({ event: 'tool_denied'; reason: string } & ToolFields)
  | ({ event: 'approval_requested' } & ToolFields)
  | ({ event: 'approval_decided'; approved: boolean; decided_by: string | null } & ToolFields);

export type EmitRunEvent = (event: RunEvent) => void;
