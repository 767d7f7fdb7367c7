/** The `Content-Type` of forms made of {@link part}s and `--B--`. */
export const FORM = 'multipart/form-data; boundary=B';

/** @param head  header lines. */
export function part(head: string, content = 'content'): string {
  return `--B\r\n${head}\r\n\r\n${content}\r\n`;
}

export function filePart(content?: string): string {
  return part('Content-Disposition: form-data; name="file"; filename="a.txt"', content);
}
