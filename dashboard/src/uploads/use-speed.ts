import { useEffect, useRef, useState } from 'react';

/** How far back the speed looks, in milliseconds. */
const SPAN = 10_000;

/**
 * @param sentBytes  so far, of all that is being sent.
 * @returns bytes a second over the last ten seconds; undefined until there is something to tell it by.
 */
export function useSpeed(sentBytes: number, isActive: boolean): number | undefined {
  const samples = useRef<{ at: number; bytes: number }[]>([]);
  const latest = useRef(sentBytes);
  latest.current = sentBytes;
  const [speed, setSpeed] = useState<number>();
  useEffect(() => {
    if (!isActive) return;
    samples.current = [{ at: Date.now(), bytes: latest.current }];
    const timer = setInterval(() => {
      const now = { at: Date.now(), bytes: latest.current };
      samples.current = [...samples.current.filter(({ at }) => now.at - at < SPAN), now];
      const [first = now] = samples.current;
      // A file that is tried again begins anew.
      setSpeed(Math.max(0, (1_000 * (now.bytes - first.bytes)) / Math.max(1, now.at - first.at)));
    }, 500);
    return () => {
      clearInterval(timer);
      setSpeed(undefined);
    };
  }, [isActive]);
  return speed;
}
