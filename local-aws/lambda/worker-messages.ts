/** What a worker is told when it is made. */
export interface WorkerStart {
  readonly codeDirectory: string;
  readonly handler: string;
  readonly functionName: string;
  readonly functionArn: string;
  readonly memoryMb: number;
  /** One number, which both sides see: 1 while the worker stands still between two events. */
  readonly freezer: Int32Array;
}

/** An event for the worker; it gets the next one only after it answered this one. */
export interface WorkerEvent {
  readonly requestId: string;
  readonly payload: string;
  readonly traceId: string;
  /** Epoch milliseconds. */
  readonly deadline: number;
}

/** What a worker tells. */
export type WorkerMessage =
  | { readonly type: 'ready' }
  | { readonly type: 'result'; readonly payload: string }
  | { readonly type: 'failed'; readonly errorType: string; readonly errorMessage: string; readonly trace: string[] };
