/** The channel between the dashboard's tabs. A message is the id of the account that has logged in, or null after a logout. */
const CHANNEL = 'session';

export function broadcastSession(accountId: string | null): void {
  const channel = new BroadcastChannel(CHANNEL);
  channel.postMessage(accountId);
  channel.close();
}

/** Calls `listen` for each message, also for messages of this tab. @returns a function that ends the listening. */
export function onSessionChange(listen: (accountId: string | null) => void): () => void {
  const channel = new BroadcastChannel(CHANNEL);
  channel.onmessage = ({ data }: MessageEvent<string | null>) => listen(data);
  return () => channel.close();
}
