/** CPU milliseconds of this thread for `job`, so that the load of the machine does not count. */
export function cpuTimeOf(job: () => void): number {
  const before = process.threadCpuUsage();
  job();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1000;
}
