/**
 * The rules of CloudWatch's embedded metric format, from its specification and JSON schema. CloudWatch treats a record that breaks a rule
 * as an ordinary log line. The metrics of the record are lost without an error. Source: CloudWatch User Guide, "Specification: Embedded
 * metric format".
 */

const UNITS =
  /^(Seconds|Microseconds|Milliseconds|(Bytes|Kilobytes|Megabytes|Gigabytes|Terabytes|Bits|Kilobits|Megabits|Gigabits|Terabits)(\/Second)?|Percent|Count(\/Second)?|None)$/;
const TWO_WEEKS_MS = 14 * 24 * 3_600_000;
const TWO_HOURS_MS = 2 * 3_600_000;

type Json = Record<string, unknown>;

/** The rules that a record breaks; empty when CloudWatch would accept it. */
export function rulesBroken(record: Json): string[] {
  const { Timestamp, CloudWatchMetrics, ...others } = (record._aws ?? {}) as Json;
  const age = Date.now() - Number(Timestamp);
  return [
    ...broken(Number.isInteger(Timestamp), 'Timestamp is a whole number of milliseconds'),
    ...broken(
      age < TWO_WEEKS_MS && age > -TWO_HOURS_MS,
      'Timestamp is at most two weeks old, and at most two hours ahead',
    ),
    ...broken(Object.keys(others).length === 0, '_aws holds nothing else'),
    ...broken(Array.isArray(CloudWatchMetrics) && CloudWatchMetrics.length > 0, 'there is a directive'),
    ...((CloudWatchMetrics ?? []) as Json[]).flatMap((directive) => directiveBroken(directive, record)),
  ];
}

function directiveBroken({ Namespace, Dimensions, Metrics, ...others }: Json, record: Json): string[] {
  const sets = Dimensions as string[][];
  const metrics = Metrics as Json[];
  return [
    ...broken(isText(Namespace, 1_024), 'Namespace has 1 to 1,024 characters'),
    ...broken(Object.keys(others).length === 0, 'a directive holds nothing else'),
    ...broken(Array.isArray(sets) && sets.length > 0, 'there is a set of dimensions'),
    ...broken(Array.isArray(metrics) && metrics.length > 0 && metrics.length <= 100, 'there are 1 to 100 metrics'),
    ...sets.flatMap((set) => broken(set.length <= 30, 'a set has at most 30 dimensions')),
    ...sets
      .flat()
      .flatMap((name) => [
        ...broken(isText(name, 250), `${name} has 1 to 250 characters`),
        ...broken(isText(record[name], 1_024), `${name} is a top-level member, and text`),
      ]),
    ...metrics.flatMap((metric) => metricBroken(metric, record)),
  ];
}

function metricBroken({ Name, Unit, ...others }: Json, record: Json): string[] {
  return [
    ...broken(isText(Name, 1_024), 'a metric has a name'),
    ...broken(typeof record[String(Name)] === 'number', `${Name} is a top-level member, and a number`),
    ...broken(Number.isFinite(record[String(Name)]), `${Name} is finite`),
    ...broken(UNITS.test(String(Unit)), `${Unit} is a unit`),
    ...broken(Object.keys(others).length === 0, `${Name} says nothing else`),
  ];
}

function isText(value: unknown, maxLength: number): boolean {
  return typeof value === 'string' && value.length > 0 && value.length <= maxLength;
}

function broken(isKept: boolean, rule: string): string[] {
  return isKept ? [] : [rule];
}
