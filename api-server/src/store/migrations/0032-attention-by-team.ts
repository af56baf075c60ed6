/** Counts the open runs of each team from the index alone: each scrape of `/metrics` asks for them. */
export const attentionByTeam = (): readonly string[] => [
  `DROP INDEX attention_by_state`,
  `CREATE INDEX attention_by_state ON attention (state, team, opened_at)`,
];
