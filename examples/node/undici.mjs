import { openAsBlob } from 'node:fs';
import { FormData, request } from 'undici';

const { FILE_HOSTING_URL, FILE_HOSTING_KEY } = process.env;

const form = new FormData();
form.append('file', await openAsBlob('photo.jpg', { type: 'image/jpeg' }), 'photo.jpg');
const { statusCode, body } = await request(`${FILE_HOSTING_URL}/api/v1/files`, {
  method: 'POST',
  headers: { authorization: `Bearer ${FILE_HOSTING_KEY}` },
  body: form,
});
const answer = await body.json();
if (statusCode !== 201) throw new Error(answer.error);
console.log(answer.url);
