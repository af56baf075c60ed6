import { z } from 'zod';
import { dividesOne } from '../../analytics/calibration.ts';

/** The width of a bin in a query. */
export const BinWidth = z
  .string()
  .regex(/^(0?\.\d{1,18}|1(\.0{1,18})?)$/, 'must be a decimal number up to 1')
  .transform(Number)
  .pipe(z.number().min(0.001).max(1).refine(dividesOne, 'must divide 1 evenly'));
