import module from 'node:module';

/**
 * Ends the process where its Node is too old for the sources, with one line on what to do. Plain JavaScript, as the launchers
 * that call it: an old Node must reach this line before it meets TypeScript.
 */
export function needNode(program, script = program) {
  // Node would open its debugger at this signal, and whoever may send it would read all that the process holds.
  process.on('SIGUSR1', () => undefined);
  forgetHome();
  if (Number(process.versions.node.split('.')[0]) >= 24) return;
  process.stderr.write(
    `signalbox ${program} needs Node 24 or newer, this is ${process.versions.node}. Run it with "npm run ${script}" after ` +
      '"npm ci" (which brings its own Node on Linux), or install Node 24.\n',
  );
  process.exit(1);
}

/** Node looks for modules that it does not find in `$HOME/.node_modules` too, where other programs of the same user may put what they like. */
function forgetHome() {
  const { HOME } = process.env;
  if (HOME === undefined) return;
  delete process.env.HOME;
  module._initPaths?.();
  process.env.HOME = HOME;
}
