import module from 'node:module';
import { dirname, join } from 'node:path';

/**
 * Keeps compiled and type-stripped code between starts, beside the sources: who may change it may change them. Node's own place is
 * the folder for temporary files, where a tool server may write too, and Node runs what it finds. A killed process keeps
 * nothing, so what this answers is for when the service listens.
 */
export function keepCompiled() {
  module.enableCompileCache(join(dirname(process.argv[1]), '../node_modules/.cache/signalbox'));
  return () => module.flushCompileCache();
}
