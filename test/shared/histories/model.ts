import { isDeepStrictEqual } from 'node:util';
import type { FileRecord, FilesPage, UploadTicket, Usage } from '../../../shared/contract/answers.ts';
import { Access, type Answer, APART_MS, agree, type Credential, type Existence, isUnknown, LATE_MS } from './access.ts';
import { DAY_MS, MINUTE_MS } from './clock.ts';

/**
 * What a client may expect of its account, from README.md, docs/api.md and docs/contract.md alone. Every answer either agrees with this model
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
  bytes: 'no' | 'yes' | 'maybe';
  isRefused: boolean;
  /** Before it was known whether the file exists, a deletion had no answer. */
  mayBeDeleted: boolean;
  signedAt: number;
  /** The ticket ends between these two times. */
  endsFrom: number;
  endsTo: number;
}

export interface Page {
  readonly page: number;
  readonly limit: number;
  readonly search?: string | undefined;
}

/** A request that has run beside later steps may be refused for what was true before them, as when a file is not there yet; but with these alone. */
function agreeRefusal(status: number, ...own: readonly number[]): void {
  agree([401, 429, ...own].includes(status), `${status} is no answer to a late request`);
}

const ticketMs = ({ content }: Upload) => 20 * 60_000 + Math.ceil(content.length / (16 * 1024)) * 1_000;
export class Model extends Access {
  readonly uploads: Upload[] = [];
  #ownLimit: number | undefined;
  /** The largest limit that the account has had: an operator may lower it below what is stored. */
  #limitMax = 0;
  readonly #claims = new Map<string, { upload: Upload; at: number; isSure: boolean }>();
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
    const isNot = { wasFile: false, isRefused: false, mayBeDeleted: false };
    const nothing = { id: undefined, file: 'no', ticket: 'no', bytes: 'no', ...isNot } as const;
    const never = { signedAt: 0, endsFrom: 0, endsTo: 0, after: this.step, before: Number.POSITIVE_INFINITY };
    const upload = { ...fields, ...nothing, ...never };
    this.uploads.push(upload);
    return upload;
  }

  /** An answer to a form, or to a request for a ticket. @param isLate  the request has run beside later steps. */
  answerUpload(upload: Upload, who: Credential, answer: Answer, isLate: boolean): void {
    const { key, content, via } = upload;
    const [now, sent, size] = [this.now(), this.#sentToday(), content.length];
    const claim = this.#claimOf(key);
    if (!(isLate || this.admits('UPLOADS', who, answer))) {
      if (!isUnknown(answer)) return;
      sent.max += size;
      if (key !== undefined && !claim) this.#claims.set(key, { upload, at: now, isSure: false });
      if (upload.wasFile) return;
      if (via === 'form') upload.file = 'unborn?';
      else Object.assign(upload, { ticket: upload.ticket === 'yes' ? 'yes' : 'maybe', endsTo: now + ticketMs(upload) });
      return;
    }
    const { status, body, headers } = answer;
    const isOurs = claim?.isSure && claim.upload === upload;
    const isOpen = this.#isOpen(upload);
    const { max, filesMax } = this.usage;
    if (isUnknown(answer)) return;
    if (isLate && status >= 400) {
      agreeRefusal(status, 403, 409);
    } else if (status === 403 || status === 429) {
      const isFull = max + size > this.storageLimit || filesMax >= this.limits.FILE_COUNT_LIMIT;
      const isAllowed = !isOurs || (via === 'ticket' && !isOpen && !upload.wasFile);
      agree(isAllowed && (status === 403 ? isFull : sent.max + size > this.#dayLimit), 'there is room');
    } else if (status === 409) {
      agree(claim && claim.upload !== upload, 'the Idempotency-Key stands for no other upload');
    } else if (headers['Idempotency-Replayed'] === 'true') {
      agree(claim?.upload === upload, 'a replay of another upload');
      claim.isSure = true;
      if (status === 201) this.#isFile(upload, body.file ?? body, true);
      else this.#isTicket(upload, body);
    } else {
      agree(status === (via === 'form' ? 201 : 202), `${status} is no answer to an upload`);
      agree(!claim?.isSure || claim.upload === upload, 'the Idempotency-Key stands for another upload');
      agree(!isOurs || (via === 'ticket' && !isOpen && !upload.wasFile), 'made twice under one Idempotency-Key');
      if (claim && claim.upload !== upload) Object.assign(claim.upload, { file: 'no', ticket: 'no' });
      if (key !== undefined) this.#claims.set(key, { upload, at: now, isSure: true });
      sent.min += size;
      if (!isLate) sent.max += size;
      if (via === 'form') this.#isFile(upload, body, isLate);
      else {
        Object.assign(upload, { id: undefined, file: 'no', bytes: 'no', isRefused: false, mayBeDeleted: false });
        this.#isTicket(upload, body);
      }
    }
  }

  #isTicket(upload: Upload, { id, upload: put }: UploadTicket): void {
    agree(put, 'a ticket without a URL');
    agree(upload.id === undefined || upload.id === id, 'another ticket');
    const now = this.now();
    Object.assign(upload, { id, put, ticket: 'yes', signedAt: now });
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

  /** The Idempotency-Key stands for an upload for 24 hours. */
  #claimOf(key: string | undefined) {
    const claim = key === undefined ? undefined : this.#claims.get(key);
    const age = claim ? this.now() - claim.at : DAY_MS;
    if (age < DAY_MS - APART_MS) return claim;
    return claim && age < DAY_MS + LATE_MS ? { ...claim, isSure: false } : undefined;
  }

  /**
   * True if the upload may be sent again: its Idempotency-Key stands for it, or may do so, and does not end meanwhile. After its end the same
   * request makes another file, as a new upload with the same key does.
   */
  mayRepeat(upload: Upload): boolean {
    const claim = this.#claimOf(upload.key);
    return claim?.upload === upload && this.now() - claim.at < DAY_MS - MINUTE_MS;
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
      }
    } else if (status === 201) {
      agree(upload.wasFile || upload.bytes !== 'no', `no bytes of ${upload.name} have arrived`);
      if (upload.file === 'no') upload.after = this.step;
      this.#isFile(upload, body, isLate);
    } else if (isLate) {
      agreeRefusal(status, 403, 404, 409);
    } else if (status === 409) {
      agree(upload.bytes !== 'yes' && upload.file !== 'yes', `the bytes of ${upload.name} have arrived`);
    } else if (status === 403) {
      agree(upload.isRefused || filesMax >= this.limits.FILE_COUNT_LIMIT, 'there is room for another file');
      agree(upload.file !== 'yes', `${upload.name} is a file`);
      Object.assign(upload, { isRefused: true, ticket: 'no', file: 'no' });
    } else {
      agree(status === 404 && !isOpen && upload.file !== 'yes', `${upload.name} can be completed`);
      Object.assign(upload, { ticket: 'no', file: 'no' });
    }
  }

  #isOpen(upload: Upload): boolean {
    return upload.ticket === 'yes' && this.now() < upload.endsFrom - APART_MS && upload.file === 'no';
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
      agree(upload.ticket !== 'no' && upload.file !== 'yes', `${upload.name} was not open`);
      Object.assign(upload, { ticket: 'no', file: 'no' });
    } else if (isLate) {
      agreeRefusal(answer.status, 404);
    } else {
      agree(answer.status === 404 && !isOpen, `${upload.name} is open`);
      upload.ticket = 'no';
    }
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
    for (const [index, newer] of shown.entries()) {
      const isRight = shown.slice(index + 1).every((older) => older !== newer && older.after <= newer.before);
      agree(isRight, `${newer.name} is listed in a wrong place`);
    }
    agree(
      answer.status === 200 &&
        items.length === Math.max(0, Math.min(asked.limit, total - (asked.page - 1) * asked.limit)),
      `a page of ${items.length} of ${total} files`,
    );
    const possible = this.uploads.filter((upload) => upload.file !== 'no' && matches(upload));
    const sure = possible.filter(({ file }) => file === 'yes');
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
