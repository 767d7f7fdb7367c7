import { uploadTo } from 'file-hosting-client';

const [input, bar, stop, text] = ['file', 'bar', 'stop', 'text'].map((id) => document.getElementById(id));

input.addEventListener('change', async () => {
  const [file] = input.files;
  const stopping = new AbortController();
  stop.onclick = () => stopping.abort();
  const ticket = await post('/tickets', { name: file.name, type: file.type, size: file.size });
  try {
    await uploadTo(ticket, file, {
      signal: stopping.signal,
      onProgress: ({ sentBytes, totalBytes }) => {
        bar.value = sentBytes / totalBytes;
      },
    });
    const { url } = await post('/complete', { id: ticket.id });
    text.textContent = url;
  } catch (error) {
    await post('/cancel', { id: ticket.id });
    text.textContent = error.message;
  }
});

async function post(path, body) {
  const answer = await fetch(path, { method: 'POST', body: JSON.stringify(body) });
  const result = await answer.json();
  if (!answer.ok) throw new Error(result.error);
  return result;
}
