/** Milliseconds that this thread computes for `job`: what else the machine does in the meantime does not count. */
export function cpuTimeOf(job: () => void): number {
  const before = process.threadCpuUsage();
  job();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1000;
}
