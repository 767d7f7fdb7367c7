import { useEffect, useState } from 'react';

/** Renders a component again every second. */
export function useEverySecond(): void {
  const [, setSeconds] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => setSeconds((seconds) => seconds + 1), 1_000);
    return () => clearInterval(timer);
  }, []);
}
