import { type NamedTest, testExists } from '../named-tests.ts';

/**
 * A statement that is true after any crash, repetition, late arrival or race, as soon as the sweeper has run.
 */
interface Invariant {
  readonly statement: string;
  readonly enforcedIn: readonly string[];
  /** Tests that would fail if it did not hold. */
  readonly tests: readonly NamedTest[];
}

/** In the order of their numbers I1, I2, …, by which comments in the code refer to them. */
const INVARIANTS: readonly Invariant[] = [
  {
    statement: '`storage_used_bytes` of an account is the size of its ready files and of its pending tickets.',
    enforcedIn: ['shared/aws/book-updates.ts', 'shared/aws/settlement-store.ts', 'shared/aws/release-store.ts'],
    tests: [
      [
        'test/shared/files/random-use.test.ts',
        'the books balance and the limit holds whatever clients, events, sweepers and faults do at once',
      ],
    ],
  },
  {
    statement:
      'No upload makes `storage_used_bytes` larger than the limit of its account; it may become equal to the limit. `storage_used_bytes` is never negative.',
    enforcedIn: ['shared/aws/book-updates.ts'],
    tests: [
      [
        'test/service/accounting.test.ts',
        'exactly as many simultaneous uploads through all three lanes succeed as fit',
      ],
      ['test/contract/upload.test.ts', 'an upload that exactly fits the storage succeeds, and one byte more is 403'],
    ],
  },
  {
    statement:
      '`file_count` of an account is the number of its ready files. No upload makes it larger than `FILE_COUNT_LIMIT`.',
    enforcedIn: ['shared/aws/book-updates.ts'],
    tests: [
      [
        'test/contract/account-limits.test.ts',
        'exactly as many simultaneous uploads succeed as the limit has room for',
      ],
    ],
  },
  {
    statement:
      'The index `by_seq` holds exactly the ready files. Each has a `seq` of its own below `next_seq`. The bitmaps of the leaves hold exactly the other seqs below `next_seq`, and the groups count these. A file with a larger `seq` has no earlier `created_at`.',
    enforcedIn: ['shared/aws/book-updates.ts', 'shared/files/listing-counters.ts'],
    tests: [
      [
        'test/shared/files/listing.test.ts',
        'the listing shows the same pages as a plain list after any uploads and deletions',
      ],
      [
        'test/shared/files/upload.test.ts',
        'settling an upload > gives every file a seq of its own and leaves none out, however many are settled at once',
      ],
    ],
  },
  {
    statement:
      'The object of a ready file exists and has the size of its row. This holds at every moment, even before the sweeper has run (decision 0039).',
    enforcedIn: ['shared/files/stage-upload.ts', 'shared/files/complete-upload.ts', 'shared/files/delete-file.ts'],
    tests: [
      [
        'test/shared/files/upload.test.ts',
        'an upload > is served with the name and type of its part, and the metadata of its object says which row it belongs to',
      ],
      [
        'test/shared/files/direct-upload.test.ts',
        'a file of more than one part > is copied in parts, complete and with the headers of any other file',
      ],
      [
        'test/service/faults.test.ts',
        'a deletion that dies at any of its calls leaves no listed file whose link is dead',
      ],
    ],
  },
  {
    statement:
      'Unfinished work ends. The sweeper finishes every ticket that has ended, and every other row that is past its deadline. The walk of the bucket removes every object or part that no row refers to, in about two days. No link leads to such an object, and no account is charged for it.',
    enforcedIn: [
      'shared/files/sweep.ts',
      'shared/files/delete-file.ts',
      'shared/files/sweep-tickets.ts',
      'shared/files/walk-bucket.ts',
    ],
    tests: [
      [
        'test/shared/files/sweep.test.ts',
        'a sweep > finishes every kind of work, and reports what it did and how late it was',
      ],
      [
        'test/shared/files/sweep.test.ts',
        'a deletion that cannot reach the bucket succeeds for the owner, and the sweeper finishes it',
      ],
      [
        'test/shared/files/sweep.test.ts',
        'the walk of the bucket > removes objects without a row when they are a day old, and keeps all others',
      ],
    ],
  },
  {
    statement:
      'After the answer 201 the client finds its file. After an error of 4xx the request has left no file and makes none later, and the storage that it used is free again. After a 5xx the outcome is unknown: the file may exist, or appear some minutes later. If it exists it is whole, charged and listed, and a retry under the same `Idempotency-Key` gives it (decision 0040).',
    enforcedIn: ['shared/files/settle-upload.ts', 'shared/aws/settlement-store.ts', 'shared/aws/transactions.ts'],
    tests: [
      [
        'test/contract/retries.test.ts',
        'after a 503 whose outcome is unknown, a retry with the key gives the one file, which serves its bytes: the first upload %s',
      ],
      [
        'test/shared/files/upload.test.ts',
        'a refusal is service_unavailable, and keeps the object, while an earlier request of the settlement may find room',
      ],
    ],
  },
  {
    statement:
      'The size of a file is charged once and given back once. This holds however many requests and sweepers settle, complete, delete or sweep the file at the same time.',
    enforcedIn: ['shared/aws/settlement-store.ts', 'shared/aws/release-store.ts', 'shared/aws/transactions.ts'],
    tests: [
      [
        'test/shared/files/upload.test.ts',
        'several attempts to settle the same upload at the same time charge it once',
      ],
      [
        'test/service/accounting.test.ts',
        'one of several simultaneous deletions of a file succeeds, and frees its bytes once',
      ],
      ['test/shared/files/sweep.test.ts', 'a sweep > never succeeds together with a completion of the same ticket'],
    ],
  },
  {
    statement: 'For 24 hours an `Idempotency-Key` of an account stands for one file.',
    enforcedIn: ['shared/aws/idempotency-store.ts', 'shared/files/idempotency.ts'],
    tests: [
      ['test/contract/retries.test.ts', 'simultaneous uploads with one key make one file, and all get its record'],
    ],
  },
  {
    statement:
      'The URL of a ticket takes its bytes once. An object that has the key of the ticket in `incoming/` stays there until the ticket ends (decision 0023). This object has the bytes that arrived, or is empty because the ticket was cancelled first.',
    enforcedIn: ['shared/files/delete-file.ts', 'shared/files/complete-upload.ts', 'shared/aws/sign-upload.ts'],
    tests: [
      [
        'test/contract/direct-upload.test.ts',
        'a URL is 412 to every further PUT after its ticket was cancelled or completed, or its file deleted',
      ],
    ],
  },
  {
    statement:
      'The bytes of an account are counted in each UTC day. An upload or ticket succeeds only if the bytes of the day, its own included, are at most the limit. The limit is `UPLOAD_BYTES_PER_DAY`, or the storage limit that an operator has set for the account if that is larger. Other bytes count without a condition, so they may exceed the limit: those of refused bodies, of the rest of a form, and of repeated uploads. An account that has sent more than twice the limit cannot even repeat an upload under its `Idempotency-Key` (decision 0014).',
    enforcedIn: ['shared/aws/book-updates.ts', 'shared/accounts/allowance.ts'],
    tests: [
      ['test/contract/account-limits.test.ts', 'exactly as many simultaneous uploads succeed as the day has bytes for'],
    ],
  },
  {
    statement:
      "Each attempt to make a file stores its bytes under a new object key. So no late write of one attempt reaches the link of another. The link of a deleted file stays dead, with one exception. When S3's answer to the write of the object is lost, the SDK sends the write again. If the file is deleted before the first of these two requests takes effect, the link works again, until the walk of the bucket removes the object (decision 0021).",
    enforcedIn: ['shared/files/object-key.ts'],
    tests: [
      [
        'test/shared/files/direct-upload.test.ts',
        'completing a ticket > removes the copy of an attempt that died, even when it appears late',
      ],
    ],
  },
  {
    statement:
      'Revoked keys, ended sessions and suspended accounts are refused from the next request on. No late write makes one of them valid again.',
    enforcedIn: [
      'shared/aws/api-key-store.ts',
      'shared/aws/session-store.ts',
      'shared/administration/suspend-account.ts',
    ],
    tests: [
      [
        'test/shared/api-keys/api-keys.test.ts',
        'authenticating by a key > does not note the use of a key that was revoked meanwhile, because that write would bring the key back',
      ],
      ['test/shared/sessions/sessions.test.ts', 'a session ends > a late refresh does not bring an ended session back'],
      [
        'test/shared/administration/suspension.test.ts',
        'a suspension > is not undone by the late writes of a request: the use of a key, the refresh of a session',
      ],
    ],
  },
  {
    statement:
      'In any span of 60 seconds, the service admits at most as many requests of a class for one account as the limit of the class allows. The two classes of the login are counted for a client address instead.',
    enforcedIn: ['shared/rate-limit/window.ts', 'shared/aws/rate-limit-store.ts'],
    tests: [
      [
        'test/shared/rate-limit/rate-limiter.test.ts',
        'no 60 seconds admit more than the limit, whenever requests arrive',
      ],
    ],
  },
  {
    statement:
      'The seal of a full leaf has the folded names of all ready files of the leaf. It has no other names, except those of files that were deleted in the last day. A search finds every file that was ready before it began, and none that was deleted before it began (decision 0028).',
    enforcedIn: ['shared/aws/seal-store.ts', 'shared/files/seal-leaf.ts', 'shared/files/search-files.ts'],
    tests: [
      [
        'test/shared/files/search.test.ts',
        'a search compared with a model > never misses an acknowledged upload and never shows a deleted file, whatever happens at once',
      ],
      [
        'test/shared/files/search.test.ts',
        'a search over sealed leaves > hides a deleted file at once, and its name leaves the seal with the sweep of the next day',
      ],
    ],
  },
];

/**
 * The rows of the table of invariants in docs/architecture.md.
 * @throws Error naming a test that is not in its file. When you rename a test that proves an invariant, rename it in this file as well.
 */
export function invariantRows(): string[][] {
  return INVARIANTS.map(({ statement, enforcedIn, tests }, index) => {
    for (const [file, name] of tests) {
      if (testExists([file, name])) continue;
      throw new Error(`${file} has no test "${name}", which docs/architecture/invariants.ts names for I${index + 1}`);
    }
    return [
      `I${index + 1}`,
      statement,
      enforcedIn.map((file) => `\`${file}\``).join(', '),
      tests.map(([file, name]) => `${name} (\`${file}\`)`).join('; '),
    ];
  });
}
