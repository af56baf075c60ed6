/** Lists those that wait in the order in which they expire. */
export const approvalsByExpiry = (): readonly string[] => [
  `CREATE INDEX approvals_by_expiry ON approvals (status, expires_at, id)`,
];
