// Plain JavaScript on purpose, as start.mjs: an old Node must reach this message before it meets TypeScript.
const major = Number(process.versions.node.split('.')[0]);
if (major < 24) {
  process.stderr.write(
    `signalbox backup needs Node 24 or newer, this is ${process.versions.node}; use "npm run backup"\n`,
  );
  process.exit(1);
}
const { backup } = await import('./src/cli/backup.ts');
process.exitCode = await backup(process.argv.slice(2), process.env);
