import { expect, test } from 'vitest';
import { departuresFromLimit } from './window.ts';

const exchange = (sentAt: number, answeredAt: number, status: number) => ({
  kind: 'upload',
  sentAt,
  answeredAt,
  status,
});

test.each([
  [
    'admits two at once, and the next a minute later',
    [
      [0, 5, 201],
      [1, 6, 201],
      [30_000, 30_005, 429],
      [60_006, 60_009, 201],
    ],
    [],
  ],
  [
    'refuses one that may have been decided before the window began to move',
    [
      [0, 5, 201],
      [0, 6, 201],
      [59_999, 60_004, 429],
    ],
    [],
  ],
  [
    'admits a third within the minute',
    [
      [0, 5, 201],
      [1, 6, 201],
      [40_000, 40_005, 201],
    ],
    ['3 were admitted within 60 s, and the limit is 2'],
  ],
  [
    'refuses the second',
    [
      [0, 5, 201],
      [10, 15, 429],
    ],
    ['one was refused after 1 in 60 s, and the limit is 2'],
  ],
  [
    'counts a request for as long as clocks may be apart beyond a minute',
    [
      [0, 5, 201],
      [1, 6, 201],
      [60_010, 60_012, 429],
    ],
    [],
  ],
  [
    'refuses although a minute has passed',
    [
      [0, 5, 201],
      [1, 6, 201],
      [60_037, 60_039, 429],
    ],
    ['one was refused after 0 in 60 s, and the limit is 2'],
  ],
] as [string, [number, number, number][], string[]][])(
  'a service with a limit of two that %s',
  (_, answers, departures) => {
    expect(
      departuresFromLimit(
        answers.map((times) => exchange(...times)),
        2,
      ),
    ).toEqual(departures);
  },
);
