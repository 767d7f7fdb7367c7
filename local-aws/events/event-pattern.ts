/** An EventBridge pattern: by field either a pattern for what is below, or a list of what the value may be. */
export type EventPattern = { readonly [field: string]: EventPattern | readonly Matcher[] };

/** A plain value, or one condition. */
type Matcher = string | number | boolean | null | { readonly [condition: string]: unknown };

type Test = (value: unknown) => boolean;

/**
 * Reads a pattern.
 * @returns whether an event matches it: every field must, and of a list of matchers any one; of a list in the event, any item.
 * @throws Error naming a condition that is not implemented here.
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
  switch (condition) {
    case 'prefix':
      if (typeof operand === 'string') return (value) => typeof value === 'string' && value.startsWith(operand);
      break;
    case 'suffix':
      if (typeof operand === 'string') return (value) => typeof value === 'string' && value.endsWith(operand);
      break;
    case 'equals-ignore-case':
      return (value) => typeof value === 'string' && value.toLowerCase() === String(operand).toLowerCase();
    case 'exists':
      return (value) => (value !== undefined) === operand;
    case 'anything-but': {
      const excluded = (Array.isArray(operand) ? operand : [operand]).map(readMatcher);
      return (value) => value !== undefined && !excluded.some((test) => test(value));
    }
  }
  throw new Error(`the local event bus does not know the condition ${JSON.stringify(matcher)}`);
}

function isList(value: EventPattern | readonly Matcher[]): value is readonly Matcher[] {
  return Array.isArray(value);
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
