/** A wanted condition without its time. */
export interface NewCondition extends Outcome {
  type: 'Accepted' | 'Synced' | 'Ready' | 'PromotionReady' | 'RegressionFree';
}

export interface Outcome {
  status: 'True' | 'False' | 'Unknown';
  reason: string;
  message: string;
}
