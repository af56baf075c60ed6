// Plain JavaScript on purpose: an old Node must reach this message before it meets TypeScript.
import module from 'node:module';

const major = Number(process.versions.node.split('.')[0]);
if (major < 24) {
  process.stderr.write(
    `signalbox api-server needs Node 24 or newer, this is ${process.versions.node}. ` +
      'Run it with "npm run api-server" after "npm ci" (which brings its own Node), or install Node 24.\n',
  );
  process.exit(1);
}
module.enableCompileCache?.();
const { main } = await import('./src/main.ts');
await main(process.argv.slice(2), process.env);
