import { notifications } from '@mantine/notifications';
import { failureOf } from '../api/failure.ts';
import { strings } from '../strings.ts';

/** The message for an error. */
export function messageFor(error: unknown): string {
  return strings.failures[failureOf(error)];
}

/** Shows an error until the user closes it, so that it is not missed. */
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

/** Shows that a request failed, except when the session has ended, because then the login page appears. */
export function notifyFailure(error: unknown): void {
  if (failureOf(error) === 'unauthorized') return;
  notifyError(strings.failed, messageFor(error));
}
