/** Returns after so many seconds. @throws what `signal` is aborted with. */
export function pause(seconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const onAbort = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', onAbort);
      resolve();
    }, seconds * 1_000);
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}

/** Returns when `target` has had its next event. @throws what `signal` is aborted with, also when it was before. */
export function nextEvent(target: EventTarget, event: string, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const onAbort = () => {
      target.removeEventListener(event, onEvent);
      reject(signal.reason);
    };
    const onEvent = () => {
      signal.removeEventListener('abort', onAbort);
      resolve();
    };
    target.addEventListener(event, onEvent, { once: true });
    signal.addEventListener('abort', onAbort, { once: true });
  });
}
