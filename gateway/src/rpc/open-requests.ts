import type { RpcId, RpcResponse } from '@signalbox/crds';

interface OpenRequest {
  resolve: (response: RpcResponse) => void;
  reject: (error: Error) => void;
}

/** What this side asked on a connection and has no answer to. */
export class OpenRequests {
  private readonly open = new Map<RpcId, OpenRequest>();

  /** Rejects when `signal` aborts, or all are given up. */
  add(id: RpcId, signal: AbortSignal): Promise<RpcResponse> {
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
    for (const { reject } of this.open.values()) reject(new Error(reason));
    this.open.clear();
  }
}
