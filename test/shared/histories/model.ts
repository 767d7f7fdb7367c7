import { isDeepStrictEqual } from 'node:util';
import type { FileRecord, FilesPage, UploadTicket, Usage } from '../../../shared/contract/answers.ts';
import {
  Access,
  type Answer,
  APART_MS,
  agree,
  agreeRefusal,
  type Credential,
  type Existence,
  isUnknown,
  LATE_MS,
} from './access.ts';
import { DAY_MS, MINUTE_MS } from './clock.ts';

/**
 * What a client may expect of its account, from README.md and docs/api.md alone. Every answer either agrees with this model
 * or throws. After a 5xx, or no answer, the model holds both possibilities, until an observation decides.
 */

/** An upload, and the file or ticket that it makes. Its name is unique. */
export interface Upload {
  readonly name: string;
  readonly content: string;
  readonly via: 'form' | 'ticket';
  readonly key: string | undefined;
  readonly isStream: boolean;
  id: string | undefined;
  put?: { readonly url: string; readonly headers: Record<string, string> };
  file: Existence;
  wasFile: boolean;
  record?: FileRecord;
  /** The file became ready between these two steps. */
  after: number;
  before: number;
  ticket: 'no' | 'yes' | 'maybe';
  /** A repeated request without an answer may have made another ticket, whose id nobody knows yet. */
  mayBeAnother: boolean;
  bytes: 'no' | 'yes' | 'maybe';
  isRefused: boolean;
  /** Before it was known whether the file exists, a deletion had no answer. */
  mayBeDeleted: boolean;
  signedAt: number;
  /** The ticket ends between these two times. */
  endsFrom: number;
  endsTo: number;
}

/** An `Idempotency-Key` stands for the upload, or may do so; it was first sent with it at `from`, and last at `to`. */
interface Claim {
  readonly upload: Upload;
  readonly from: number;
  readonly to: number;
  readonly isSure: boolean;
}

export interface Page {
  readonly page: number;
  readonly limit: number;
  readonly search?: string | undefined;
}

/** What is known of a new ticket. */
const NOTHING = {
  id: undefined,
  file: 'no',
  bytes: 'no',
  isRefused: false,
  mayBeDeleted: false,
  mayBeAnother: false,
} as const;

const ticketMs = ({ content }: Upload) => 20 * 60_000 + Math.ceil(content.length / (16 * 1024)) * 1_000;
export class Model extends Access {
  readonly uploads: Upload[] = [];
  #ownLimit: number | undefined;
  /** The largest limit that the account has had: an operator may lower it below what is stored. */
  #limitMax = 0;
  readonly #claims = new Map<string, readonly Claim[]>();
  #sent = { day: 0, min: 0, max: 0 };

  get usage() {
    const bounds = { min: 0, max: 0, files: 0, filesMax: 0 };
    for (const { file, ticket, content } of this.uploads) {
      const isSure = file === 'yes' || ticket === 'yes';
      if (isSure) bounds.min += content.length;
      if (isSure || file !== 'no' || ticket !== 'no') bounds.max += content.length;
      if (file === 'yes') bounds.files++;
      if (file !== 'no') bounds.filesMax++;
    }
    return bounds;
  }

  get storageLimit() {
    return this.#ownLimit ?? this.limits.STORAGE_LIMIT_BYTES;
  }

  setLimit(bytes: number | undefined): void {
    this.#limitMax = Math.max(this.#limitMax, this.storageLimit);
    this.#ownLimit = bytes;
  }

  get #dayLimit() {
    return Math.max(this.limits.UPLOAD_BYTES_PER_DAY, this.#ownLimit ?? 0);
  }

  #sentToday() {
    const day = Math.floor(this.now() / DAY_MS);
    if (this.#sent.day !== day) this.#sent = { day, min: 0, max: 0 };
    return this.#sent;
  }

  newUpload(fields: Pick<Upload, 'name' | 'content' | 'via' | 'key' | 'isStream'>): Upload {
    const never = { signedAt: 0, endsFrom: 0, endsTo: 0, after: this.step, before: Number.POSITIVE_INFINITY };
    const upload: Upload = { ...fields, ...NOTHING, ticket: 'no', wasFile: false, ...never };
    this.uploads.push(upload);
    return upload;
  }

  /** An answer to a form, or to a request for a ticket. @param isLate  the request has run beside later steps. */
  answerUpload(upload: Upload, who: Credential, answer: Answer, isLate: boolean): void {
    const { key, content, via } = upload;
    const [now, sent, size] = [this.now(), this.#sentToday(), content.length];
    const claims = this.#claimsOf(key);
    const own = claims.find((claim) => claim.upload === upload);
    const sure = claims.find(({ isSure }) => isSure);
    if (!(isLate || this.admits('UPLOADS', who, answer))) {
      if (!isUnknown(answer)) return;
      sent.max += size;
      if (key !== undefined && !sure)
        this.#claims.set(key, [
          ...claims.filter((claim) => claim !== own),
          { from: now, ...own, upload, to: now, isSure: false },
        ]);
      if (upload.wasFile) return;
      if (via === 'form') upload.file = 'unborn?';
      else if (upload.ticket === 'yes') upload.endsTo = now + ticketMs(upload);
      else Object.assign(upload, { ticket: 'maybe', mayBeAnother: true, endsTo: now + ticketMs(upload) });
      return;
    }
    const { status, body, headers } = answer;
    const isOpen = this.#isOpen(upload);
    const mayBeMade = !own?.isSure || (via === 'ticket' && !isOpen && !upload.wasFile);
    const { max, filesMax } = this.usage;
    if (isUnknown(answer)) return;
    const { id } = body.file ?? body;
    if (isLate && status >= 400) {
      agreeRefusal(status, 403, 409);
    } else if (status === 403 || status === 429) {
      const isFull = max + size > this.storageLimit || filesMax >= this.limits.FILE_COUNT_LIMIT;
      agree(mayBeMade && (status === 403 ? isFull : sent.max + size > this.#dayLimit), 'there is room');
    } else if (status === 409) {
      agree(!own?.isSure && claims.some((claim) => claim !== own), 'the Idempotency-Key stands for no other upload');
    } else if (headers['Idempotency-Replayed'] === 'true' || (isLate && upload.id === id)) {
      // Or the first answer comes after its replay.
      agree(own, 'a replay of another upload');
      this.#standsFor(claims, own);
      if (upload.mayBeAnother && upload.id !== id) Object.assign(upload, NOTHING);
      if (status === 201) this.#isFile(upload, body.file ?? body, true);
      else this.#isTicket(upload, body, isLate);
    } else {
      agree(status === (via === 'form' ? 201 : 202), `${status} is no answer to an upload`);
      agree(!sure || sure.upload === upload, 'the Idempotency-Key stands for another upload');
      agree(mayBeMade, 'made twice under one Idempotency-Key');
      this.#standsFor(claims, { upload, from: now, to: now, isSure: true });
      sent.min += size;
      if (!isLate) sent.max += size;
      if (via === 'form') this.#isFile(upload, body, isLate);
      else {
        Object.assign(upload, NOTHING);
        this.#isTicket(upload, body, isLate);
      }
    }
  }

  #isTicket(upload: Upload, { id, upload: put }: UploadTicket, isLate: boolean): void {
    agree(put, 'a ticket without a URL');
    // It may have ended since.
    if (isLate && upload.id !== undefined) return;
    agree(upload.id === undefined || upload.id === id, 'another ticket');
    const now = this.now();
    Object.assign(upload, { id, put, ticket: 'yes', mayBeAnother: false, signedAt: now });
    Object.assign(upload, { endsFrom: now + ticketMs(upload), endsTo: now + ticketMs(upload) });
    this.#keepsLimits();
  }

  /** The answer shows the file. @param mayBeGone  it may have been deleted since: a replay, or a request that has run beside later steps. */
  #isFile(upload: Upload, record: FileRecord, mayBeGone: boolean): void {
    const { name, content, via } = upload;
    agree(upload.id === undefined || upload.id === record.id, `${name} has another id`);
    agree(!upload.record || isDeepStrictEqual(upload.record, record), `the record of ${name} has changed`);
    agree(record.name === name && record.size_bytes === content.length, `the record of ${name} is wrong`);
    const mayExist = upload.file !== 'no' || (upload.wasFile ? mayBeGone : via === 'form' || upload.ticket !== 'no');
    agree(mayExist || mayBeGone, `${name} was deleted or cancelled`);
    // It was made and deleted again by requests that ran beside others. If it was not, it is listed in the end.
    if (!mayExist) return;
    if (!upload.wasFile) Object.assign(upload, { file: upload.mayBeDeleted ? 'gone?' : 'yes', before: this.step });
    Object.assign(upload, { id: record.id, record, wasFile: true, ticket: 'no' });
    this.#keepsLimits();
  }

  /** No upload makes the account exceed its limits. */
  #keepsLimits(): void {
    const { min, files } = this.usage;
    agree(min <= Math.max(this.storageLimit, this.#limitMax), 'over the storage limit');
    agree(files <= this.limits.FILE_COUNT_LIMIT, 'over the number of files');
    agree(this.#sentToday().min <= this.#dayLimit, 'over the bytes of the day');
  }

  /** For which uploads the Idempotency-Key may stand. It does so for 24 hours. */
  #claimsOf(key: string | undefined): readonly Claim[] {
    const now = this.now();
    const claims = this.#claims.get(key ?? '') ?? [];
    return claims
      .filter(({ to }) => now - to < DAY_MS + LATE_MS)
      .map((claim) => ({ ...claim, isSure: claim.isSure && now - claim.from < DAY_MS - APART_MS }));
  }

  /** The key stands for one upload; so those that were sent with it meanwhile were not made. */
  #standsFor(claims: readonly Claim[], claim: Claim): void {
    const { upload } = claim;
    const others = claims.filter((one) => one.upload !== upload && !one.isSure && this.#isYoung(one));
    for (const { upload: other } of others) Object.assign(other, { file: 'no', ticket: 'no' });
    if (upload.key !== undefined) this.#claims.set(upload.key, [{ ...claim, isSure: true }]);
  }

  /** The key does not end in the next minute. */
  #isYoung({ from }: Claim): boolean {
    return this.now() - from < DAY_MS - MINUTE_MS;
  }

  /**
   * True if the upload may be sent again: its Idempotency-Key stands for it, or may do so, and does not end meanwhile. After its end the same
   * request makes another file, as a new upload with the same key does.
   */
  mayRepeat(upload: Upload): boolean {
    return this.#claimsOf(upload.key).some((claim) => claim.upload === upload && this.#isYoung(claim));
  }

  answerPut(upload: Upload, status: number): void {
    const age = this.now() - upload.signedAt;
    if (status === 0) upload.bytes = upload.bytes === 'yes' ? 'yes' : 'maybe';
    else if (status === 403) agree(age > 15 * MINUTE_MS - APART_MS, 'the URL has not expired');
    else if (status === 412) agree(upload.bytes !== 'no' || upload.ticket !== 'yes', 'the URL has taken no bytes yet');
    else {
      agree(
        status === 200 && age < 15 * MINUTE_MS + APART_MS && upload.bytes !== 'yes',
        'the URL takes no bytes any more',
      );
      upload.bytes = 'yes';
    }
  }

  answerCompletion(upload: Upload, who: Credential | undefined, answer: Answer, isLate: boolean): void {
    const { filesMax } = this.usage;
    const isOpen = this.#isOpen(upload);
    const { status, body } = answer;
    if (who && !isLate && !this.admits('REQUESTS', who, answer) && !isUnknown(answer)) return;
    if (isUnknown(answer)) {
      if (upload.file === 'no' && !upload.wasFile && upload.ticket !== 'no' && upload.bytes !== 'no') {
        Object.assign(upload, { file: 'unborn?', after: this.step });
        if (filesMax >= this.limits.FILE_COUNT_LIMIT) Object.assign(upload, { isRefused: true, ticket: 'maybe' });
      }
    } else if (status === 201) {
      agree(upload.wasFile || upload.bytes !== 'no', `no bytes of ${upload.name} have arrived`);
      if (upload.file === 'no') upload.after = this.step;
      this.#isFile(upload, body, isLate);
    } else if (isLate) {
      agreeRefusal(status, 403, 404, 409);
      // A refusal is for good.
      agree(status !== 403 || !upload.wasFile, `${upload.name} is a file`);
      agree(status !== 404 || upload.file !== 'yes', `${upload.name} is a file`);
    } else if (status === 409) {
      agree(upload.bytes !== 'yes' && upload.file !== 'yes', `the bytes of ${upload.name} have arrived`);
    } else if (status === 403) {
      agree(upload.isRefused || filesMax >= this.limits.FILE_COUNT_LIMIT, 'there is room for another file');
      agree(upload.file !== 'yes', `${upload.name} is a file`);
      Object.assign(upload, { isRefused: true, ticket: 'no', file: 'no' });
    } else {
      agree(status === 404 && !isOpen && upload.file !== 'yes', `${upload.name} can be completed`);
      upload.file = 'no';
      if (!upload.mayBeAnother) upload.ticket = 'no';
    }
  }

  /** The ticket is pending, or has just become a file. */
  #isOpen({ ticket, file, endsFrom, mayBeDeleted }: Upload): boolean {
    const isHere = file === 'no' || (file === 'unborn?' && !mayBeDeleted);
    return isHere && ticket === 'yes' && this.now() < endsFrom - APART_MS;
  }

  /** The event of the bucket that the bytes have arrived. It changes only a ticket that is open. */
  answerEvent(upload: Upload, isDone: boolean, isLatest: boolean): void {
    const { files, filesMax } = this.usage;
    const isOpen = this.#isOpen(upload);
    if (!isLatest || this.isSuspended || upload.file !== 'no' || upload.ticket === 'no') return;
    upload.after = this.step;
    if (isDone && isOpen && upload.bytes === 'yes' && filesMax < this.limits.FILE_COUNT_LIMIT) {
      Object.assign(upload, { file: 'yes', wasFile: true, ticket: 'no', before: this.step });
    } else if (isDone && isOpen && upload.bytes === 'yes' && files >= this.limits.FILE_COUNT_LIMIT) {
      Object.assign(upload, { isRefused: true, ticket: 'no' });
    } else Object.assign(upload, { file: 'unborn?', ticket: 'maybe' });
  }

  answerCancellation(upload: Upload, who: Credential, answer: Answer, isLate: boolean): void {
    const isOpen = this.#isOpen(upload);
    if (!isLate && !this.admits('REQUESTS', who, answer) && !isUnknown(answer)) return;
    if (isUnknown(answer)) {
      if (upload.ticket === 'yes') upload.ticket = 'maybe';
    } else if (answer.status === 200) {
      agree((upload.ticket !== 'no' || isLate) && upload.file !== 'yes', `${upload.name} was not open`);
      Object.assign(upload, { ticket: 'no', file: 'no' });
    } else if (isLate) {
      agreeRefusal(answer.status, 404);
    } else {
      agree(answer.status === 404 && (!isOpen || upload.file !== 'no'), `${upload.name} is open`);
      if (!upload.mayBeAnother) upload.ticket = 'no';
    }
  }

  /** @param content  what the file's link gives. */
  answerFile(upload: Upload, who: Credential, answer: Answer, content: string | undefined): void {
    if (!this.admits('REQUESTS', who, answer)) return;
    if (answer.status !== 200) {
      agree(answer.status === 404 && upload.file !== 'yes', `${upload.name} exists`);
      if (upload.file === 'gone?') upload.file = 'no';
      return;
    }
    agree(upload.file !== 'no', `${upload.name} is gone`);
    agree(content === upload.content, `the link of ${upload.name} gives ${content}`);
    this.#isFile(upload, answer.body, false);
  }

  answerDeletion(upload: Upload, who: Credential, answer: Answer, isLate: boolean): void {
    if (!isLate && !this.admits('REQUESTS', who, answer) && !isUnknown(answer)) return;
    if (isUnknown(answer)) {
      if (upload.file === 'yes') upload.file = 'gone?';
      if (upload.file === 'unborn?') upload.mayBeDeleted = true;
    } else if (answer.status === 200) {
      agree(upload.file !== 'no' || isLate, `${upload.name} did not exist`);
      Object.assign(upload, { file: 'no', wasFile: true, ticket: 'no' });
    } else if (isLate) {
      agreeRefusal(answer.status, 404);
    } else {
      agree(answer.status === 404 && upload.file !== 'yes', `${upload.name} exists`);
      if (upload.file === 'gone?') upload.file = 'no';
    }
  }

  /** @param isQuiet  no request is under way, and none will have a late effect: what is not listed will never be. */
  answerList(asked: Page, who: Credential, answer: Answer, isQuiet = false): void {
    if (!this.admits('LISTS', who, answer)) return;
    const { items, total } = answer.body as FilesPage;
    const matches = (upload: Upload) => upload.name.toLowerCase().includes((asked.search ?? '').toLowerCase());
    const shown = items.map((record) => {
      const upload = this.uploads.find(({ name }) => name === record.name);
      agree(upload && matches(upload) && upload.file !== 'no', `${record.name} is listed`);
      this.#isFile(upload, record, false);
      return upload;
    });
    agree(
      answer.status === 200 &&
        items.length === Math.max(0, Math.min(asked.limit, total - (asked.page - 1) * asked.limit)),
      `a page of ${items.length} of ${total} files`,
    );
    const possible = this.uploads.filter((upload) => upload.file !== 'no' && matches(upload));
    const sure = possible.filter(({ file }) => file === 'yes');
    for (const [index, one] of shown.entries()) {
      const place = (asked.page - 1) * asked.limit + index;
      const isRight = shown.slice(index + 1).every((older) => older !== one && older.after <= one.before);
      const newer = sure.filter((other) => other.after > one.before).length;
      const mayBeNewer = possible.filter((other) => other !== one && other.before >= one.after).length;
      agree(isRight && place >= newer && place <= mayBeNewer, `${one.name} is listed in a wrong place`);
    }
    agree(
      total >= sure.length && total <= possible.length,
      `a total of ${total}, not ${sure.length} to ${possible.length}`,
    );
    if (asked.page > 1 || total > asked.limit) return;
    for (const upload of possible) {
      const isShown = shown.includes(upload);
      agree(isShown || upload.file !== 'yes', `${upload.name} is not listed`);
      if (!isShown && (isQuiet || upload.file === 'gone?')) upload.file = 'no';
      if (isShown && isQuiet) upload.file = 'yes';
    }
  }

  answerUsage(who: Credential, answer: Answer, isExact = false): void {
    if (!this.admits('REQUESTS', who, answer)) return;
    const { storage_used_bytes, storage_limit_bytes, file_count, sent_today_bytes } = answer.body as Usage;
    const { min, max, files, filesMax } = this.usage;
    const sent = this.#sentToday();
    agree(storage_limit_bytes === this.storageLimit, 'another storage limit');
    const isWithin = (value: number, low: number, high: number) => value >= low && value <= high;
    agree(isWithin(storage_used_bytes, min, max), `${storage_used_bytes} bytes are used, not ${min} to ${max}`);
    agree(isWithin(file_count, files, filesMax), `there are ${file_count} files, not ${files} to ${filesMax}`);
    agree(
      isWithin(sent_today_bytes, sent.min, sent.max),
      `${sent_today_bytes} bytes were sent, not ${sent.min} to ${sent.max}`,
    );
    agree(!isExact || (min === max && files === filesMax), 'nothing is unknown any more');
  }

  /** The sweeper has run. @param isDone  false when it died, and may have done only a part. */
  swept(isDone: boolean): void {
    for (const upload of this.uploads) {
      if (upload.ticket === 'no' || upload.endsFrom > this.now() + APART_MS) continue;
      upload.ticket = isDone && upload.endsTo < this.now() - APART_MS ? 'no' : 'maybe';
    }
  }

  /** The account was deleted. After the next login it is empty. */
  deleted(): void {
    for (const upload of this.uploads) Object.assign(upload, { file: 'no', ticket: 'no' });
    this.#claims.clear();
    this.#sent = { day: 0, min: 0, max: 0 };
    this.#ownLimit = undefined;
    this.ended();
  }
}
