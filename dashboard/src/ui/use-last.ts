import { useState } from 'react';

/** Returns the value, or the last one that was not undefined, so that a dialog keeps its content while it closes. */
export function useLast<Value>(value: Value | undefined): Value | undefined {
  const [last, setLast] = useState(value);
  if (value !== undefined && value !== last) setLast(value);
  return value ?? last;
}
