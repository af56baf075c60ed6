import { type ArtifactStore, artifactStore } from '../../store/artifacts/keep.ts';
import type { Config } from '../../config/config.ts';
import { databaseArtifacts } from '../../store/tables/artifacts.ts';
import type { Database } from '../../store/db/database.ts';

/** The artifact store: null without the block, a folder where one is configured, otherwise the shared database. */
export function wireArtifacts({ artifacts }: Pick<Config, 'artifacts'>, database: Database): ArtifactStore | null {
  if (artifacts === null) return null;
  if (artifacts.dir !== null) return artifactStore(artifacts.dir);
  return database.writeAs ? databaseArtifacts(database, () => Date.now()) : null;
}
