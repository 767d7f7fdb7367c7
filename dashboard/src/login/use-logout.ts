import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { hosting } from '../api/client.ts';
import { notifyFailure } from '../ui/failed-request.tsx';
import { useUploadQueue } from '../uploads/use-uploads.ts';
import { broadcastSession } from './session-channel.ts';

/** The sessions that a logout ends: that of this browser, or all of the account. */
export type Logout = 'here' | 'everywhere';

/** Ends sessions, and leads every tab to the login page. */
export function useLogout() {
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const uploads = useUploadQueue();
  return useMutation({
    mutationFn: async (logout: Logout) => {
      // Cancelling needs the session. Otherwise the reserved storage would count as used until its tickets expire.
      await uploads.cancelAll();
      return logout === 'here' ? hosting.logout() : hosting.endSessions();
    },
    onSuccess: async () => {
      await navigate({ to: '/login' });
      broadcastSession(null);
      queryClient.clear();
    },
    onError: notifyFailure,
  });
}
