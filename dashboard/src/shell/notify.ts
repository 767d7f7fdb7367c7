import { notifications } from '@mantine/notifications';
import { Failure } from '../api/failure.ts';
import { strings } from '../strings.ts';

/** What went wrong, in words. */
export function wordsFor(error: unknown): string {
  return strings.failures[error instanceof Failure ? error.code : 'internal_error'];
}

/** Tells of a request that failed; of a session that ended, the login page tells. */
export function notifyFailure(error: unknown): void {
  if (error instanceof Failure && error.code === 'unauthorized') return;
  notifications.show({ color: 'red', title: strings.failed, message: wordsFor(error), role: 'alert' });
}
