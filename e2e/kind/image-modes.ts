import { run } from './run.ts';

/** Not the services' user, as a tool server with a `user` of its own. */
const STRANGER = '65533:65533';
/** Prints what is wrong. */
const CHECK = `
for folder in / /usr /usr/bin /usr/local /usr/local/bin /app /data; do [ -x $folder ] || echo "$folder cannot be passed"; done
for program in /usr/local/bin/node /usr/bin/tini; do
  [ -x $program ] || echo "$program cannot be executed"
  [ -r $program ] && echo "$program can be read, so environment and memory of what it runs can be, too"
done
[ -r /data ] && echo '/data can be listed'
find / -xdev \\( -path /proc -o -path /sys -o -path /dev -o -path /tmp -o -path /var/tmp -o -path /run/lock \\) -prune -o ! -type l -writable -print | sed 's/$/ can be written/'
find /app -type f ! -readable -print | sed 's/$/ cannot be read/'
node -e 0 || echo 'node does not start'
exit 0
`;

/** A tool server passes the folders on the way to its program, and reads and writes nothing of the services. */
export async function checkModes(image: string): Promise<void> {
  const args = ['--rm', '--network', 'none', '--user', STRANGER, '--entrypoint', 'sh', image, '-c', CHECK];
  const problems = await run('docker', ['run', ...args]);
  if (problems !== '') throw new Error(`modes of the image:\n${problems}`);
}
