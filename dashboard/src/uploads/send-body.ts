import { Failure } from '../api/failure.ts';

export interface BodyRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Blob | FormData;
  readonly signal: AbortSignal;
  /** @param sentBytes  the bytes of the body that were sent so far. */
  readonly onProgress: (sentBytes: number) => void;
}

export interface BodyAnswer {
  readonly status: number;
  readonly text: string;
  /** @returns null when the answer has no such header, or CORS hides it. */
  header(name: string): string | null;
}

/**
 * Sends a body and reports its progress, which `fetch` cannot.
 * @throws Failure `offline` when there was no answer, and the reason of `signal` when it is aborted.
 */
export function sendBody({ method, url, headers, body, signal, onProgress }: BodyRequest): Promise<BodyAnswer> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const xhr = new XMLHttpRequest();
    const abort = () => xhr.abort();
    signal.addEventListener('abort', abort, { once: true });
    xhr.upload.onprogress = ({ loaded }) => onProgress(loaded);
    xhr.onload = () =>
      resolve({ status: xhr.status, text: xhr.responseText, header: (name) => xhr.getResponseHeader(name) });
    xhr.onerror = () => reject(new Failure('offline'));
    xhr.onabort = () => reject(signal.reason);
    xhr.onloadend = () => signal.removeEventListener('abort', abort);
    xhr.open(method, url);
    for (const [name, value] of Object.entries(headers)) xhr.setRequestHeader(name, value);
    xhr.send(body);
  });
}
