import { notifications } from '@mantine/notifications';
import type { ReactNode } from 'react';
import { failureOf } from '../api/failure.ts';
import { strings } from '../strings.ts';

/** The message for an error. */
export function messageFor(error: unknown): string {
  return strings.failures[failureOf(error)];
}

/** Shows an error until the user closes it, so that it is not missed. */
export function notifyError(title: string, message: ReactNode): void {
  notifications.show({
    color: 'red',
    title,
    message,
    role: 'alert',
    autoClose: false,
    closeButtonProps: { 'aria-label': strings.close },
  });
}
