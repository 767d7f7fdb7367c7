import { VisuallyHidden } from '@mantine/core';
import { Outlet } from '@tanstack/react-router';
import { useEffect } from 'react';
import { ANNOUNCEMENTS } from '../ui/announce.ts';
import { useUploadQueue } from '../uploads/use-uploads.ts';

/**
 * The frame of every page, including the login page, where uploads may be waiting. It asks before a tab with unfinished uploads
 * is closed.
 */
export function Root() {
  const queue = useUploadQueue();
  useEffect(() => {
    const ask = (event: BeforeUnloadEvent) => {
      if (queue.isBusy) event.preventDefault();
    };
    window.addEventListener('beforeunload', ask);
    return () => window.removeEventListener('beforeunload', ask);
  }, [queue]);
  return (
    <>
      <Outlet />
      <VisuallyHidden id={ANNOUNCEMENTS} role="status" />
    </>
  );
}
