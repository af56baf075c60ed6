import { type Kysely, sql } from 'kysely';
import type { AgentUse } from '../../../analytics/agent-versions.ts';
import { newestFirst } from '../../../analytics/prompt-versions.ts';
import { MOST_TEXTS, MOST_WITH_TEXT } from '../../aggregates/prompt-versions.ts';
import { firstWithin } from '../../db/first-within.ts';
import type { FoundTexts, WantedVersion } from '../../../versions/agent-texts.ts';
import type { Tx } from '../../db/database.ts';
import type { Tables } from '../../db/schema.ts';

const GATEWAY = 'gateway';

/** The `most` newest versions of a gateway's agent that a step ever used (Orchestration 2.9), the first ones with their texts, as far as these have room together. */
export async function agentUses(db: Kysely<Tables>, agent: string, most: number): Promise<AgentUse[]> {
  const ofAgent = db.selectFrom('agent_versions').where('executor', '=', GATEWAY).where('agent', '=', agent);
  const bytes = sql<number | string>`coalesce(octet_length(soul_md), 0) + coalesce(octet_length(agent_yaml), 0)`;
  const rows = await ofAgent.select(['agent_version', 'note', bytes.as('bytes')]).execute();
  const uses = await db
    .selectFrom('version_uses')
    .select(['agent_version', 'step_name', 'first_seen_at', 'last_seen_at'])
    .where('executor', '=', GATEWAY)
    .where('agent', '=', agent)
    .execute();
  const byVersion = Map.groupBy(uses, ({ agent_version: version }) => version);
  const known = rows.flatMap((row) => {
    const used = byVersion.get(row.agent_version);
    if (!used) return [];
    return [
      {
        agentVersion: row.agent_version,
        soulMd: null,
        agentYaml: null,
        note: row.note,
        firstSeenAt: Math.min(...used.map(({ first_seen_at: at }) => at)),
        lastSeenAt: Math.max(...used.map(({ last_seen_at: at }) => at)),
        usedBySteps: [...new Set(used.map(({ step_name: name }) => name))].toSorted(),
      },
    ];
  });
  const newest = newestFirst(known, ({ agentVersion }) => agentVersion).slice(0, most);
  const sizes = new Map(rows.map((row) => [row.agent_version, Number(row.bytes)]));
  const versions = newest.slice(0, MOST_WITH_TEXT).map(({ agentVersion }) => agentVersion);
  const texts = await textsOf(
    db,
    agent,
    firstWithin(versions, (version) => sizes.get(version) ?? 0, { most: MOST_TEXTS }),
  );
  return newest.map((use) => ({ ...use, ...texts.get(use.agentVersion) }));
}

async function textsOf(db: Kysely<Tables>, agent: string, versions: readonly string[]) {
  if (versions.length === 0) return new Map<string, never>();
  const rows = await db
    .selectFrom('agent_versions')
    .select(['agent_version', 'soul_md', 'agent_yaml'])
    .where('executor', '=', GATEWAY)
    .where('agent', '=', agent)
    .where('agent_version', 'in', versions)
    .execute();
  return new Map(
    rows.map((row) => [row.agent_version, { soulMd: textOf(row.soul_md), agentYaml: textOf(row.agent_yaml) }]),
  );
}

const textOf = (json: string | null): string | null => (json === null ? null : (JSON.parse(json) as string));

/** Versions whose texts may still be had, those of one agent together. */
export async function wantedVersions(db: Kysely<Tables>, limit: number): Promise<WantedVersion[]> {
  const rows = await db
    .selectFrom('agent_versions')
    .select(['agent', 'agent_version'])
    .where('executor', '=', GATEWAY)
    .where('wanted', '=', 1)
    .orderBy('agent')
    .orderBy('agent_version')
    .limit(limit)
    .execute();
  return rows.map(({ agent, agent_version: version }) => ({ agent, version }));
}

/** Keeps the texts of versions, or why there are none. */
export async function keepTexts(tx: Tx, found: readonly FoundTexts[]): Promise<void> {
  for (const { agent, version, texts, note, wanted } of found) {
    await tx.db
      .updateTable('agent_versions')
      .set({
        soul_md: texts && JSON.stringify(texts.soulMd),
        agent_yaml: texts && JSON.stringify(texts.agentYaml),
        note,
        wanted: Number(wanted),
      })
      .where('executor', '=', GATEWAY)
      .where('agent', '=', agent)
      .where('agent_version', '=', version)
      // Another process may have had more luck.
      .where('soul_md', 'is', null)
      .execute();
  }
}
