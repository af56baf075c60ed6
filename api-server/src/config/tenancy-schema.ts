import { compileMatch, Tenancy } from '@signalbox/crds';
import { z } from 'zod';

/** `tenancy` of the configuration file. A rule that could never match would silence a namespace, so it ends the start. */
export const TenancyBlock = z.preprocess(
  (value) => value ?? {},
  Tenancy.superRefine(({ namespaces }, context) => {
    for (const [namespace, { match = {} }] of Object.entries(namespaces)) {
      for (const { key, msg } of compileMatch(match).problems)
        context.addIssue({ code: 'custom', path: ['namespaces', namespace, 'match', key], message: msg });
    }
  }),
);
