import type { Rollout } from './child.ts';

/** The part of an Agent's condition Ready that its pods decide. */
export interface WorkloadState {
  status: 'True' | 'False' | 'Unknown';
  reason: string;
  message: string;
}

/** What a Deployment's own status says about the agent (Design 7). Pure. */
export function stateOfRollout({ current, desired, ready, available, progressing }: Rollout): WorkloadState {
  const counted = desired === 0 ? 'scaled to zero' : `${ready} of ${desired} pods are ready`;
  if (progressing?.status === 'False') return unavailable(progressing.message);
  if (!current || !available) return { status: 'False', reason: 'Starting', message: counted };
  if (available.status === 'True') return { status: 'True', reason: 'Available', message: counted };
  // Once all pods were there and are no more, nobody should wait for a start.
  return progressing?.reason === 'NewReplicaSetAvailable'
    ? unavailable(`${counted}; ${available.message}`)
    : { status: 'False', reason: 'Starting', message: counted };
}

const unavailable = (message: string): WorkloadState => ({ status: 'False', reason: 'DeploymentUnavailable', message });
