import { explainRun } from './explain.ts';

/** A tool and the operation of the JSON routes that it calls: role, arguments, limits and answer are that operation's. */
export interface ToolEntry {
  name: string;
  /** The `operationId`. */
  operation: string;
  description: string;
  /** The answer as text; JSON where absent. */
  render?: (answer: unknown) => string;
}

/** What an assistant may do. To add a tool: one entry. */
export const TOOLS: readonly ToolEntry[] = [
  {
    name: 'list_runs',
    operation: 'listRuns',
    description: 'Runs, newest first: what became of each alert, with trust, cost and whether a person is needed.',
  },
  {
    name: 'get_run',
    operation: 'getRun',
    description: 'One run with every step: prompt, answer, evidence, checks, cost and errors.',
  },
  {
    name: 'explain_run',
    operation: 'getRun',
    description:
      'Why a run ended as it did, in a few lines: each gate with its trust and threshold, warnings and errors.',
    render: explainRun,
  },
  { name: 'list_pipelines', operation: 'listPipelines', description: 'The loaded pipelines.' },
  {
    name: 'start_pipeline',
    operation: 'runPipeline',
    description:
      'Starts a pipeline by hand with a summary, severity and labels. It costs money and may act on systems.',
  },
  {
    name: 'list_approvals',
    operation: 'listApprovals',
    description: 'Approvals: pending ones first, of these the next one to expire.',
  },
  {
    name: 'decide_approval',
    operation: 'decideApproval',
    description: 'Approves or rejects what a run asks for. The first decision is final.',
  },
  {
    name: 'mark_run',
    operation: 'markRun',
    description: 'Marks a run correct, partial or incorrect. Marks calibrate the agents.',
  },
  {
    name: 'pipeline_stats',
    operation: 'getPipelineStatistics',
    description: 'Runs, success, tokens, cost, durations and accuracy of one pipeline.',
  },
];
