import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Invoker } from '../lambda/lambda-service.ts';

/** An event that waits for its function. */
export interface QueuedEvent {
  readonly requestId: string;
  readonly functionArn: string;
  readonly payload: string;
  readonly invoker: Invoker;
}

/** The queue of asynchronous invocations, one file per event. It outlives the process, as Lambda's queue does. */
export interface EventQueue {
  /** The events that were in the queue when it was opened. */
  readonly former: readonly QueuedEvent[];
  /** Adds the event at once, so that whoever caused it may be answered. @throws Error when the disk does not take it. */
  add(event: QueuedEvent): void;
  remove(requestId: string): void;
}

export function openEventQueue(directory: string): EventQueue {
  mkdirSync(directory, { recursive: true });
  const fileOf = (requestId: string) => join(directory, requestId);
  return {
    former: readdirSync(directory).flatMap((requestId) => readEvent(fileOf(requestId)) ?? []),
    add: (event) => writeFileSync(fileOf(event.requestId), JSON.stringify(event)),
    remove: (requestId) => rmSync(fileOf(requestId), { force: true }),
  };
}

/** @returns undefined for a file whose writer died: then what caused the event was not acknowledged. */
function readEvent(file: string): QueuedEvent | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    rmSync(file);
    return undefined;
  }
}
