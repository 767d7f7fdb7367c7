const SECONDS_PER_UNIT: Readonly<Record<string, number>> = { minute: 60, hour: 3_600, day: 86_400 };

/**
 * The seconds of a `rate(…)` expression.
 * @throws Error for any other expression: a cron is not implemented.
 * Source: EventBridge User Guide, "Rate expressions".
 */
export function readRate(expression: string): number {
  const [, count, unit = ''] = /^rate\((\d+) (minute|hour|day)s?\)$/.exec(expression) ?? [];
  const seconds = SECONDS_PER_UNIT[unit];
  if (!count || !seconds) throw new Error(`the local scheduler does not know "${expression}"`);
  return Number(count) * seconds;
}
