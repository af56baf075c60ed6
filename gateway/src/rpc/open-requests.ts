import type { RpcId, RpcResponse } from '@signalbox/crds';

interface OpenRequest {
  resolve: (response: RpcResponse) => void;
  reject: (error: Error) => void;
}

/** What this side asked on a connection and has no answer to. */
export class OpenRequests {
  private readonly open = new Map<RpcId, OpenRequest>();
  private ended: Error | null = null;

  /** Rejects when `signal` aborts, or all are given up, also where they were before. */
  add(id: RpcId, signal: AbortSignal): Promise<RpcResponse> {
    if (this.ended) return Promise.reject(this.ended);
    return new Promise((resolve, reject) => {
      const stop = () => {
        this.open.delete(id);
        reject(signal.reason as Error);
      };
      const settled = () => signal.removeEventListener('abort', stop);
      signal.addEventListener('abort', stop, { once: true });
      this.open.set(id, {
        resolve: (response) => {
          settled();
          resolve(response);
        },
        reject: (error) => {
          settled();
          reject(error);
        },
      });
    });
  }

  settle(response: RpcResponse): void {
    if (response.id === null) return;
    const waiting = this.open.get(response.id);
    this.open.delete(response.id);
    waiting?.resolve(response);
  }

  giveUp(reason: string): void {
    this.ended = new Error(reason);
    for (const { reject } of this.open.values()) reject(this.ended);
    this.open.clear();
  }
}
