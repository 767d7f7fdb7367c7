import superagent from 'superagent';

const { FILE_HOSTING_URL, FILE_HOSTING_KEY } = process.env;

const { body } = await superagent
  .post(`${FILE_HOSTING_URL}/api/v1/files`)
  .set('Authorization', `Bearer ${FILE_HOSTING_KEY}`)
  .attach('file', 'photo.jpg')
  .catch(({ response, message }) => {
    // The error of superagent has the whole request, and Node would print it with the key.
    throw new Error(response?.body.error ?? message);
  });
console.log(body.url);
