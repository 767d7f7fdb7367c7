/** An EventBridge pattern: for each field a nested pattern, or a list of matchers for its value. */
export type EventPattern = { readonly [field: string]: EventPattern | readonly Matcher[] };

/** A plain value, or one condition. */
type Matcher = string | number | boolean | null | { readonly [condition: string]: unknown };

type Test = (value: unknown) => boolean;

/**
 * Reads a pattern.
 * @returns a test for events. Every field of the pattern must match. A field matches when one of its matchers fits the value in the event.
 *   If that value is a list, the matcher must fit one of its items.
 * @throws Error naming a condition other than `prefix`, the only one that the local EventBridge implements.
 * Source: EventBridge User Guide, "Comparison operators for use in event patterns".
 */
export function readEventPattern(pattern: EventPattern): Test {
  const tests = Object.entries(pattern).map(([field, below]) => {
    const test = isList(below) ? anyOf(below.map(readMatcher)) : readEventPattern(below);
    return (event: unknown) => test(isObject(event) ? event[field] : undefined);
  });
  return (event) => tests.every((test) => test(event));
}

function anyOf(tests: readonly Test[]): Test {
  return (value) => {
    const values = Array.isArray(value) ? value : [value];
    return tests.some((test) => values.some(test));
  };
}

function readMatcher(matcher: Matcher): Test {
  if (!isObject(matcher)) return (value) => value === matcher;
  const [condition = '', operand] = Object.entries(matcher)[0] ?? [];
  if (condition === 'prefix' && typeof operand === 'string') {
    return (value) => typeof value === 'string' && value.startsWith(operand);
  }
  throw new Error(`the local event bus does not know the condition ${JSON.stringify(matcher)}`);
}

function isList(value: EventPattern | readonly Matcher[]): value is readonly Matcher[] {
  return Array.isArray(value);
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
