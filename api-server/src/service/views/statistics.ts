import { z } from 'zod';
import { AnyObject, component } from './answer.ts';

export const PipelineStatistics = component('PipelineStatistics', AnyObject, { pipeline_name: 'checkout-errors' });
export const PipelineStatisticsList = component(
  'PipelineStatisticsList',
  z.strictObject({ pipelines: z.array(AnyObject) }),
  { pipelines: [] },
);
export const StepStatistics = component('StepStatistics', AnyObject, { step_name: 'investigate' });
export const StepModels = component(
  'StepModels',
  z.strictObject({ step_name: z.string(), breakdown: z.array(AnyObject) }),
  { step_name: 'investigate', breakdown: [] },
);
