import type { Snapshot } from '../../definitions/snapshot.ts';
import type { Tx } from '../../store/db/database.ts';
import { closestPipelines } from '../../triggers/closest.ts';
import type { Decided } from '../../triggers/coverage.ts';
import type { IntakeRequest } from '../../triggers/intake-deps.ts';
import { type Delivery, isStarted, type Started, type Verdict } from '../../triggers/model.ts';
import { type Account, invalidRecord, recordOf, startedAny } from './account.ts';
import type { DeliveryLog } from './delivery-log.ts';
import { headOf } from './head.ts';
import type { Part } from './share.ts';

export interface AdmitDeps {
  definitions(): Snapshot;
  /** `alongside` is a further write of its transaction. */
  intake(requests: IntakeRequest[], alongside?: (tx: Tx, decided: Decided[]) => Promise<void>): Promise<Verdict[]>;
  log: Pick<DeliveryLog<Tx>, 'open' | 'keepLater'>;
  now(): number;
}

export interface Read extends Pick<Account, 'delivery' | 'parsed'> {
  parts: readonly Part[];
}

/** A further write of the transaction that stores the runs of a delivery, told what becomes of it; not called where none starts. */
export type Alongside = (tx: Tx, head: Started) => Promise<void>;

/** Hands over what may run, and keeps the delivery with what became of it. */
export async function admit(deps: AdmitDeps, read: Read, more?: Alongside): Promise<Verdict[]> {
  const { delivery, parts } = read;
  const requests = parts.flatMap(({ decision }) => (decision.go ? [decision.request] : []));
  const audited = async (tx: Tx, admitted: readonly Decided[]) => {
    if (!more) return;
    const head = headOf(inOrder(parts, verdictsOf(admitted)));
    if (isStarted(head)) await more(tx, head);
  };
  if (delivery.tokenName === undefined) return inOrder(parts, await deps.intake(requests, audited));
  const receivedAt = deps.now();
  if (requests.length === 0) {
    keepWithoutRun(deps, accountOf(read, [], receivedAt));
    return inOrder(parts, []);
  }
  const entry = deps.log.open();
  let decided: readonly Decided[] = [];
  const alongside = async (tx: Tx, admitted: Decided[]) => {
    decided = admitted;
    const record = startedAny(admitted) ? recordOf(accountOf(read, admitted, receivedAt)) : null;
    if (record) await entry.store(tx, record);
    await audited(tx, admitted);
  };
  try {
    const admitted = await deps.intake(requests, alongside);
    if (!startedAny(decided)) keepWithoutRun(deps, accountOf(read, decided, receivedAt));
    return inOrder(parts, admitted);
  } catch (error) {
    entry.failed();
    throw error;
  }
}

/** A delivery that could not be read. */
export function keepInvalid(
  { log, now }: Pick<AdmitDeps, 'log' | 'now'>,
  delivery: Delivery,
  refusal: { statusCode: number; message: string },
): void {
  if (delivery.tokenName === undefined || delivery.dryRun) return;
  log.keepLater({ source: delivery.source, outcome: 'invalid' }, () => invalidRecord(delivery, now(), refusal));
}

const verdictsOf = (decided: readonly Decided[]): Verdict[] => decided.map(({ verdict }) => verdict);

function inOrder(parts: readonly Part[], admitted: readonly Verdict[]): Verdict[] {
  const left = [...admitted];
  return parts.map(({ decision }) => (decision.go ? (left.shift() as Verdict) : decision.verdict));
}

function accountOf({ delivery, parsed, parts }: Read, admitted: readonly Decided[], receivedAt: number): Account {
  const left = [...admitted];
  const decided = parts.map(({ decision, alerts }) => {
    const one = decision.go
      ? (left.shift() as Decided)
      : { verdict: decision.verdict, context: alerts[0], coveredBy: [] };
    return { ...one, alerts };
  });
  return { delivery, parsed, decided, receivedAt };
}

function keepWithoutRun({ log, definitions }: AdmitDeps, account: Account): void {
  const { delivery, decided } = account;
  const head = headOf(decided.map(({ verdict }) => verdict));
  if (head.status === 'unavailable') return;
  log.keepLater({ source: delivery.source, outcome: head.status }, () => {
    const about = head.status === 'no_pipeline' ? decided[0]?.context : undefined;
    return recordOf(account, about ? closestPipelines(definitions(), about, delivery.team) : []);
  });
}
