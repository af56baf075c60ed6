import type { MatchContext } from '@signalbox/crds';
import type { LoadedPipeline } from './snapshot.ts';

type Admitted = Pick<LoadedPipeline, 'standing' | 'admission'>;

/** Whether the namespace of a pipeline may get an alert. */
export const admits = ({ standing, admission }: Admitted, subject: MatchContext): boolean =>
  standing.admitted && (admission?.matches(subject) ?? true);

/** The same before patterns are compared. */
export const mayAdmit = ({ standing, admission }: Admitted, subject: MatchContext): boolean =>
  standing.admitted && (admission?.plainHold(subject) ?? true);
