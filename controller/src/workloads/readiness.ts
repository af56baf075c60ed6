import type { Rollout } from './child.ts';

/** The part of an Agent's condition Ready that its pods decide. */
export interface WorkloadState {
  status: 'True' | 'False' | 'Unknown';
  reason: string;
  message: string;
  /** How many there are, where that is known. */
  pods?: number;
}

/** The state of the agent according to the status of its Deployment. Pure. */
export const stateOfRollout = (rollout: Rollout): WorkloadState => ({ ...readinessOf(rollout), pods: rollout.pods });

function readinessOf({ current, desired, ready, available, progressing }: Rollout): WorkloadState {
  const counted = desired === 0 ? 'scaled to zero' : `${ready} of ${desired} pods are ready`;
  if (progressing?.status === 'False') return unavailable(progressing.message);
  if (!current || !available) return { status: 'False', reason: 'Starting', message: counted };
  if (available.status === 'True') return { status: 'True', reason: 'Available', message: counted };
  // All pods were available before, so this is an outage and not a start.
  return progressing?.reason === 'NewReplicaSetAvailable'
    ? unavailable(`${counted}; ${available.message}`)
    : { status: 'False', reason: 'Starting', message: counted };
}

const unavailable = (message: string): WorkloadState => ({ status: 'False', reason: 'DeploymentUnavailable', message });
