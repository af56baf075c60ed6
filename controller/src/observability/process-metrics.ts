import Gauge from 'prom-client/lib/gauge.js';
import type { Registry } from 'prom-client';

const MICROSECONDS = 1_000_000;

/** What dashboards of any process show, under the names that they know. */
export function registerProcessMetrics(registers: Registry[]): void {
  const started = Date.now() / 1000 - process.uptime();
  const gauge = (name: string, help: string, read: () => number) =>
    new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(read());
      },
    });
  gauge('process_resident_memory_bytes', 'Resident memory', () => process.memoryUsage.rss());
  gauge('nodejs_heap_size_used_bytes', 'JavaScript heap in use', () => process.memoryUsage().heapUsed);
  gauge('process_cpu_seconds_total', 'User and system time', () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / MICROSECONDS;
  });
  gauge('process_start_time_seconds', 'Start of the process, since the epoch', () => started);
}
