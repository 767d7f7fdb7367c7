import { VisuallyHidden } from '@mantine/core';
import { Outlet } from '@tanstack/react-router';
import { useEffect } from 'react';
import { ANNOUNCEMENTS } from '../ui/announce.ts';
import { useUploadQueue } from '../uploads/use-uploads.ts';

/** What is around every page, also that of the login, where uploads may wait. */
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
