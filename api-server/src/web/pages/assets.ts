import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import type { FastifyInstance } from 'fastify';

const TYPES: Record<string, string> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.woff2': 'font/woff2',
  '.svg': 'image/svg+xml',
};

export interface Assets {
  /** The address of a file; it changes with the content of any asset, so that browsers may keep it for ever. */
  url(file: string): string;
  register(app: FastifyInstance): void;
}

/**
 * Reads every asset once. The style sheets under `css/` become one `app.css`, in the order of their names. All files live
 * under one folder named by the hash of them all, which keeps relative imports between modules and fonts working.
 */
export function loadAssets(dir: string): Assets {
  const files = new Map<string, Buffer>();
  for (const [folder, prefix] of [
    ['js', ''],
    ['fonts', 'fonts/'],
  ] as const) {
    for (const name of readdirSync(join(dir, folder)).toSorted()) {
      if (extname(name) in TYPES) files.set(prefix + name, readFileSync(join(dir, folder, name)));
    }
  }
  const sheets = readdirSync(join(dir, 'css'))
    .filter((name) => name.endsWith('.css'))
    .toSorted();
  files.set('app.css', Buffer.concat(sheets.map((name) => readFileSync(join(dir, 'css', name)))));

  const digest = createHash('sha256');
  for (const [name, content] of files) digest.update(name).update(content);
  const base = `/ui/assets/${digest.digest('hex').slice(0, 12)}`;

  return {
    url: (file) => `${base}/${file}`,
    register(app) {
      for (const [name, content] of files) {
        app.get(`${base}/${name}`, (_request, reply) =>
          reply
            .header('cache-control', 'public, max-age=31536000, immutable')
            .type(TYPES[extname(name)] ?? 'application/octet-stream')
            .send(content),
        );
      }
    },
  };
}
