import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { ConfigFile } from '../../api-server/src/config/schema.ts';
import { GatewayConfig } from '../../gateway/src/config/schema.ts';
import { configReference, undescribed } from './config-reference.ts';
import { ROOT } from './run-command.ts';

const PATIENCE_MS = 60_000;

test(
  'every key of both configuration files has a description',
  () => {
    expect(undescribed(ConfigFile)).toEqual([]);
    expect(undescribed(GatewayConfig)).toEqual([]);
  },
  PATIENCE_MS,
);

test(
  'a new key without a description is named, in a block, a list and a map too',
  () => {
    const planted = z.preprocess((value) => value ?? {}, z.strictObject({ silent: z.string().optional() }));
    const schema = ConfigFile.out.extend({
      block: planted.describe('A block'),
      list: z.array(planted).describe('A list'),
      map: z.record(z.string(), planted).describe('A map'),
      bare: z.string().optional(),
    });
    expect(undescribed(schema)).toEqual(['block.silent', 'list[].silent', 'map.NAME.silent', 'bare']);
  },
  PATIENCE_MS,
);

test(
  'of the three forms of a tool server one is needed, and only an image needs a port',
  () => {
    const text = configReference();
    for (const key of ['command', 'url', 'image'])
      expect(text).toMatch(
        new RegExp(`NAME\\.${key}\` \\| string(?: or list of string)? \\| one of \`command\` \`url\` \`image\` \\|`),
      );
    expect(text).toContain('| `mcp_servers.NAME.port` | integer 1 to 65535 | with `image` **required** |');
  },
  PATIENCE_MS,
);

test(
  'docs/configuration.md is what the schemas say',
  () => {
    expect(readFileSync(join(ROOT, 'docs/configuration.md'), 'utf8')).toBe(configReference());
  },
  PATIENCE_MS,
);
