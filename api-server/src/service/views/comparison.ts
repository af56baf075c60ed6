import { z } from 'zod';
import { component, NullableNumber, NullableText } from './answer.ts';
import { LINE, RunLine } from './run.ts';
import { StepDetail } from './step.ts';

/** One step of both runs. What compares the two is null where one of them has nothing to compare. */
export const StepComparison = z
  .strictObject({
    step_name: z.string(),
    a: StepDetail.nullable(),
    b: StepDetail.nullable(),
    /** Whether both were asked with the same edition of the template. */
    same_prompt: z.boolean().nullable(),
    same_agent_version: z.boolean().nullable(),
    /** A unified diff of the answers as JSON with sorted keys; empty where they are equal. */
    output_diff: NullableText,
    /** The differences are b minus a. */
    trust_delta: NullableNumber,
    cost_delta: NullableNumber,
    duration_delta: NullableNumber,
  })
  .meta({ id: 'StepComparison' });
export type StepComparison = z.infer<typeof StepComparison>;

/** `GET /runs/{a}/compare/{b}`: the steps of both runs in the order in which the pipeline has them. */
export const Comparison = component(
  'Comparison',
  z.strictObject({ runs: z.tuple([RunLine, RunLine]), steps: z.array(StepComparison) }),
  {
    runs: [LINE, { ...LINE, id: '01a1febe-0d12-7a30-bd62-26d4a1f0c7aa' }],
    steps: [
      {
        step_name: 'investigate',
        a: null,
        b: null,
        same_prompt: false,
        same_agent_version: true,
        output_diff: '--- a\n+++ b\n@@ -1,3 +1,3 @@\n {\n-  "action": "none"\n+  "action": "restart"\n }\n',
        trust_delta: -0.12,
        cost_delta: 0.0021,
        duration_delta: 3.4,
      },
    ],
  },
);
export type Comparison = z.infer<typeof Comparison>;
