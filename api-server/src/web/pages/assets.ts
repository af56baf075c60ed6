import { createHash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import fastifyStatic from '@fastify/static';
import type { FastifyInstance } from 'fastify';

export interface Assets {
  /** The address of a file. It changes with the content of any asset, so browsers may cache it without limit. */
  url(file: string): string;
  register(app: FastifyInstance): void;
}

const YEAR_SECONDS = 31_536_000;
const OURS = fileURLToPath(new URL('../assets/', import.meta.url));
/** The only script of a dependency that pages load. */
const MORPH = fileURLToPath(import.meta.resolve('idiomorph'));

/**
 * Serves scripts and fonts from disk, and the style sheets as one `app.css`, in the order of their names. All are in
 * one folder that is named after the hash of all of them, so that relative imports work.
 */
export function loadAssets(): Assets {
  const read = (pattern: string): Buffer[] =>
    globSync(pattern, { cwd: OURS })
      .toSorted()
      .map((name) => readFileSync(join(OURS, name)));
  const css = Buffer.concat(read('css/*'));
  const digest = createHash('sha256');
  for (const content of [css, ...read('{js,fonts}/*'), readFileSync(MORPH)]) digest.update(content);
  const base = `/ui/assets/${digest.digest('hex').slice(0, 12)}`;

  return {
    url: (file) => `${base}/${file}`,
    register(app) {
      app.get(`${base}/app.css`, (_request, reply) =>
        reply
          .header('cache-control', `public, max-age=${YEAR_SECONDS}, immutable`)
          .type('text/css; charset=utf-8')
          .send(css),
      );
      void app.register(fastifyStatic, {
        root: [OURS, dirname(MORPH)],
        prefix: `${base}/`,
        index: false,
        maxAge: YEAR_SECONDS * 1000,
        immutable: true,
        decorateReply: false,
      });
    },
  };
}
