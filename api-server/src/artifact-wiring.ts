import { type ArtifactStore, artifactStore } from './artifacts/keep.ts';
import type { Config } from './config/config.ts';
import { databaseArtifacts } from './store/artifacts.ts';
import type { Database } from './store/database.ts';

/** Where artifacts are kept: in the folder of the configuration, else in a database that processes share, else nowhere. */
export function wireArtifacts({ artifacts }: Pick<Config, 'artifacts'>, database: Database): ArtifactStore | null {
  if (artifacts) return artifactStore(artifacts.dir);
  return database.writeAs ? databaseArtifacts(database, () => Date.now()) : null;
}
