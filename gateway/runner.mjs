import module from 'node:module';

// Plain JavaScript on purpose: an old Node must reach this message before it meets TypeScript.
const major = Number(process.versions.node.split('.')[0]);
if (major < 24) {
  process.stderr.write(`signalbox agent-runner needs Node 24 or newer, this is ${process.versions.node}.\n`);
  process.exit(1);
}
module.enableCompileCache();
const { main } = await import('./src/runner/main.ts');
const exitCode = await main(process.argv.slice(2), process.env);
if (exitCode !== null) process.exitCode = exitCode;
module.flushCompileCache();
