/** What the dashboard's tabs tell each other: the id of the account that is logged in, or null when it has logged out. */
const CHANNEL = 'session';

export function tellOfSession(accountId: string | null): void {
  const channel = new BroadcastChannel(CHANNEL);
  channel.postMessage(accountId);
  channel.close();
}

/** @returns how to end it. */
export function onSession(listen: (accountId: string | null) => void): () => void {
  const channel = new BroadcastChannel(CHANNEL);
  channel.onmessage = ({ data }: MessageEvent<string | null>) => listen(data);
  return () => channel.close();
}
