/** What the dashboard's tabs tell each other: that somebody is logged in. A tab that asks for the login may then go on. */
const CHANNEL = 'session';

export function tellOfSession(): void {
  const channel = new BroadcastChannel(CHANNEL);
  channel.postMessage(null);
  channel.close();
}

/** @returns how to end it. */
export function onSession(go: () => void): () => void {
  const channel = new BroadcastChannel(CHANNEL);
  channel.onmessage = go;
  return () => channel.close();
}
