import { openAsBlob } from 'node:fs';
import axios from 'axios';

const { FILE_HOSTING_URL, FILE_HOSTING_KEY } = process.env;

const form = new FormData();
form.append('file', await openAsBlob('photo.jpg', { type: 'image/jpeg' }), 'photo.jpg');
const { data } = await axios
  .post(`${FILE_HOSTING_URL}/api/v1/files`, form, { headers: { Authorization: `Bearer ${FILE_HOSTING_KEY}` } })
  .catch(({ response, message }) => {
    // The error of axios has the whole request, and Node would print it with the key.
    throw new Error(response?.data.error ?? message);
  });
console.log(data.url);
