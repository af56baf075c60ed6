/**
 * The lockfile without the `engines` of dependencies. npm compares those with the Node that npm itself runs on and prints a warning
 * for each that asks for a newer one, though nothing here runs on that Node: `npm ci` brings the one that everything runs on,
 * and the launchers check it.
 */
export function withoutEngines(lockfile: string): string {
  const parsed = JSON.parse(lockfile) as { packages: Record<string, { engines?: unknown }> };
  for (const [path, entry] of Object.entries(parsed.packages)) {
    if (path.startsWith('node_modules/') || path.includes('/node_modules/')) delete entry.engines;
  }
  return `${JSON.stringify(parsed, null, 2)}\n`;
}
