import { workerData } from 'node:worker_threads';

const EVERY_MS = 100;
const { url, slowest } = workerData as { url: string; slowest: Float64Array };
const open = new Set<number>();

function note(began: number): void {
  slowest[0] = Math.max(slowest[0] ?? 0, performance.now() - began);
}

async function probe(): Promise<void> {
  for (const began of open) note(began);
  const began = performance.now();
  open.add(began);
  try {
    const answer = await fetch(`${url}/health`);
    await answer.text();
    if (answer.ok) note(began);
    else slowest[0] = Infinity;
  } catch {
    slowest[0] = Infinity;
  }
  open.delete(began);
}

void probe();
setInterval(() => void probe(), EVERY_MS);
