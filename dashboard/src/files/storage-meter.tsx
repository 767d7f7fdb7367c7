import { Progress, Text } from '@mantine/core';
import { useSuspenseQuery } from '@tanstack/react-query';
import { profileQuery } from '../api/queries.ts';
import { formatBytes, percentOf } from '../format.ts';
import { strings } from '../strings.ts';
import styles from './storage-meter.module.css';

const words = strings.storage;

/** The meter warns when this part of the limit is used. */
const ALMOST = 0.9;

/** Shows how much of the account's storage is used. */
export function StorageMeter() {
  const { data: profile } = useSuspenseQuery(profileQuery);
  const [used, limit] = [profile.storage_used_bytes, profile.storage_limit_bytes];
  const part = limit === 0 ? 1 : used / limit;
  const isFull = used >= limit;
  const color = part < ALMOST ? 'indigo' : isFull ? 'red' : 'orange';
  return (
    <div className={styles.meter}>
      <Text size="sm" c="dimmed" className="numbers">
        {words.used(formatBytes(used), formatBytes(limit))}
      </Text>
      <Progress value={limit === 0 ? 100 : percentOf(used, limit)} color={color} aria-label={words.label} />
      {part >= ALMOST && (
        <Text size="sm" fw={600} role="status">
          {isFull ? words.full : words.almost(formatBytes(limit - used))}
        </Text>
      )}
    </div>
  );
}
