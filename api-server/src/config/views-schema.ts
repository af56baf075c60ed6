import { z } from 'zod';
import { text } from './fields.ts';

/** What the address of the list of runs may hold beside its order. */
export const FILTER_KEYS = [
  'q',
  'status',
  'attention',
  'severity',
  'pipeline',
  'stage',
  'alert',
  'label',
  'agent',
  'model',
  'source',
  'team',
  'teamless',
  'last',
  'since',
  'until',
  'warnings',
  'replay',
] as const;
/** What a view may set. */
const VIEW_KEYS: readonly string[] = [...FILTER_KEYS, 'sort'];
const MAX_VIEWS = 50;

const View = z.strictObject({
  name: text().max(40).describe('Name of the view'),
  filters: z
    .record(text(), text().max(200))
    .refine((filters) => Object.keys(filters).length > 0, 'is empty')
    .superRefine((filters, context) => {
      for (const key of Object.keys(filters))
        if (!VIEW_KEYS.includes(key))
          context.addIssue({ code: 'custom', path: [key], message: `is unknown; there are ${VIEW_KEYS.join(', ')}` });
    })
    .describe('Filters of the list of runs as its address has them, and `sort`'),
});

/** Named views of the list of runs, by team; `default` has those of everybody. */
export const ViewsBlock = z
  .record(text(), z.array(View))
  .refine((teams) => Object.values(teams).flat().length <= MAX_VIEWS, `has more than ${MAX_VIEWS} views`)
  .default({});
