import { openAsBlob } from 'node:fs';
import got from 'got';

const { FILE_HOSTING_URL, FILE_HOSTING_KEY } = process.env;

const form = new FormData();
form.append('file', await openAsBlob('photo.jpg', { type: 'image/jpeg' }), 'photo.jpg');
const file = await got
  .post(`${FILE_HOSTING_URL}/api/v1/files`, {
    headers: { authorization: `Bearer ${FILE_HOSTING_KEY}` },
    body: form,
  })
  .json();
console.log(file.url);
