import { notifications } from '@mantine/notifications';
import { Failure } from '../api/failure.ts';
import { strings } from '../strings.ts';

/** What went wrong, in words. */
export function wordsFor(error: unknown): string {
  return strings.failures[error instanceof Failure ? error.code : 'internal_error'];
}

/** An error stays until it is closed: whoever looked elsewhere has to know of it, too. */
export function notifyError(title: string, message: string): void {
  notifications.show({
    color: 'red',
    title,
    message,
    role: 'alert',
    autoClose: false,
    closeButtonProps: { 'aria-label': strings.close },
  });
}

/** Tells of a request that failed; of a session that ended, the login page tells. */
export function notifyFailure(error: unknown): void {
  if (error instanceof Failure && error.code === 'unauthorized') return;
  notifyError(strings.failed, wordsFor(error));
}
