import type { TableWords } from './table-words.ts';
import { initial } from './0001-initial.ts';
import { notifications } from './0002-notifications.ts';
import { schedules } from './0004-schedules.ts';
import { approvals } from './0003-approvals.ts';
import { reruns } from './0005-reruns.ts';
import { replicas } from './0006-replicas.ts';
import { endedSessions } from './0007-ended-sessions.ts';
import { hourlySums } from './0008-hourly-sums.ts';
import { versions } from './0009-versions.ts';
import { replay } from './0010-replay.ts';
import { goldenSets } from './0011-golden-sets.ts';
import { deliveries } from './0012-deliveries.ts';
import { escalations } from './0013-escalations.ts';
import { approvers } from './0014-approvers.ts';
import { raw } from './0015-raw.ts';
import { warnings } from './0016-warnings.ts';
import { attention } from './0017-attention.ts';
import { usage } from './0018-usage.ts';
import { notificationTries } from './0019-notification-tries.ts';
import { namespaces } from './0020-namespaces.ts';
import { runLabels } from './0021-run-labels.ts';
import { search } from './0022-search.ts';
import { runBodies } from './0023-run-bodies.ts';
import { dailySums } from './0024-daily-sums.ts';
import { packedEvidence } from './0025-packed-evidence.ts';
import { packedSteps } from './0026-packed-steps.ts';
import { dailyPrompts } from './0027-daily-prompts.ts';
import { packedRuns } from './0028-packed-runs.ts';
import { judgedSteps } from './0029-judged-steps.ts';
import { weeklySums } from './0030-weekly-sums.ts';
import { teamlessRuns } from './0031-teamless-runs.ts';
import { attentionByTeam } from './0032-attention-by-team.ts';
import { approvalsByExpiry } from './0033-approvals-by-expiry.ts';
import { unlabelledMembers } from './0034-unlabelled-members.ts';

export interface Migration {
  /** Sorts in the order of application and is never changed once released. */
  readonly id: string;
  /** The statements, in order: the same for both databases but for the words that `TableWords` gives. */
  readonly up: (words: TableWords) => readonly string[];
}

/**
 * All migrations, oldest first. To add one: a file `NNNN-name.ts` that exports a function from `TableWords` to SQL
 * statements (`0001-initial.ts` shows how), its tables in `../db/schema.ts`, a line at the end of this list, and the dumps
 * of the version before it (`dumps/write.ts`).
 * Write every column type with a word (`${integer}` is 64 bits on both) and everything else so that both databases
 * take it; booleans are `${integer}` 0 or 1, JSON is `${text}`. A released migration is never changed.
 */
export const migrations: readonly Migration[] = [
  { id: '0001-initial', up: initial },
  { id: '0002-notifications', up: notifications },
  { id: '0003-approvals', up: approvals },
  { id: '0004-schedules', up: schedules },
  { id: '0005-reruns', up: reruns },
  { id: '0006-replicas', up: replicas },
  { id: '0007-ended-sessions', up: endedSessions },
  { id: '0008-hourly-sums', up: hourlySums },
  { id: '0009-versions', up: versions },
  { id: '0010-replay', up: replay },
  { id: '0011-golden-sets', up: goldenSets },
  { id: '0012-deliveries', up: deliveries },
  { id: '0013-escalations', up: escalations },
  { id: '0014-approvers', up: approvers },
  { id: '0015-raw', up: raw },
  { id: '0016-warnings', up: warnings },
  { id: '0017-attention', up: attention },
  { id: '0018-usage', up: usage },
  { id: '0019-notification-tries', up: notificationTries },
  { id: '0020-namespaces', up: namespaces },
  { id: '0021-run-labels', up: runLabels },
  { id: '0022-search', up: search },
  { id: '0023-run-bodies', up: runBodies },
  { id: '0024-daily-sums', up: dailySums },
  { id: '0025-packed-evidence', up: packedEvidence },
  { id: '0026-packed-steps', up: packedSteps },
  { id: '0027-daily-prompts', up: dailyPrompts },
  { id: '0028-packed-runs', up: packedRuns },
  { id: '0029-judged-steps', up: judgedSteps },
  { id: '0030-weekly-sums', up: weeklySums },
  { id: '0031-teamless-runs', up: teamlessRuns },
  { id: '0032-attention-by-team', up: attentionByTeam },
  { id: '0033-approvals-by-expiry', up: approvalsByExpiry },
  { id: '0034-unlabelled-members', up: unlabelledMembers },
];
