// Plain JavaScript on purpose: an old Node must reach this message before it meets TypeScript.
import module from 'node:module';

const major = Number(process.versions.node.split('.')[0]);
if (major < 24) {
  process.stderr.write(
    `signalbox controller needs Node 24 or newer, this is ${process.versions.node}. ` +
      'Run it with "npm run controller" after "npm ci" (which brings its own Node), or install Node 24.\n',
  );
  process.exit(1);
}
// Compiled and type-stripped code is kept between starts; a killed process keeps none, so it is written once a role listens.
module.enableCompileCache();
await import('./src/main.ts');
module.flushCompileCache();
