import { hideEnvironment } from './config/own-environment.ts';

// Before anything else is loaded: this process may be replaced by one that starts without the secrets in its environment.
const environmentShown = hideEnvironment();
const { runCommand } = await import('./boot/run-command.ts');
const exitCode = await runCommand({ argv: process.argv.slice(2), env: process.env, environmentShown });
if (exitCode !== null) process.exitCode = exitCode;
