/** A condition as this process says it, before it is compared with the one that stands in the object. */
export interface Said {
  type: 'Accepted' | 'Synced' | 'Ready' | 'PromotionReady';
  status: 'True' | 'False' | 'Unknown';
  reason: string;
  message: string;
}
