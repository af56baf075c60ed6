// Plain JavaScript on purpose: an old Node must reach this message before it meets TypeScript.
const major = Number(process.versions.node.split('.')[0]);
if (major < 24) {
  process.stderr.write(
    `The demo needs Node 24 or newer, this is ${process.versions.node}. ` +
      'Run it as "npm run demo" after "npm ci" (which brings its own Node on Linux), or install Node 24.\n',
  );
  process.exit(1);
}
await import('./demo.ts');
