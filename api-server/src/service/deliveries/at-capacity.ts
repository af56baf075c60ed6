import { AppError } from '@signalbox/crds';
import type { Verdict } from '../../triggers/model.ts';

type Load = Omit<Extract<Verdict, { status: 'at_capacity' }>, 'status'>;

/** No free slot for another run: 429 with `Retry-After`, and the load next to the envelope (Orchestration 4.1). */
export class AtCapacity extends AppError {
  readonly load: Load;

  constructor(load: Load) {
    super('at_capacity', load.message);
    this.load = load;
  }
}
