/** Resolves at the next `event` of `target`. @throws the reason of `signal` when it is or was aborted. */
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
