/** An api-server with one pipeline whose runs end at once, of which a test makes a long history. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const PIPELINE = {
  name: 'shop',
  stage: 'production',
  trigger: { match: { namespace: 'shop' } },
  steps: [{ name: 'one', when: 'false', executor: 'webhook', url: 'http://127.0.0.1:9' }],
};

/** Writes what it needs into a folder; answers the path of its configuration. `file` is the database. */
export function configureShop(directory: string, file: string): string {
  mkdirSync(join(directory, 'pipelines'));
  writeFileSync(join(directory, 'pipelines/shop.yaml'), JSON.stringify(PIPELINE));
  const settings = {
    server: { host: '127.0.0.1', port: 0 },
    pipeline_config_dir: 'pipelines',
    database: { url: `sqlite://${file}` },
    auth: { allow_unauthenticated: true },
  };
  const config = join(directory, 'config.yaml');
  writeFileSync(config, JSON.stringify(settings));
  return config;
}
