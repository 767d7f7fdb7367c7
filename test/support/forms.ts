/** The `Content-Type` of a form made of {@link part}s and the closing delimiter `--B--`. */
export const FORM = 'multipart/form-data; boundary=B';

/** One part of a form. @param head  its header lines, separated by CRLF. */
export function part(head: string, content = 'content'): string {
  return `--B\r\n${head}\r\n\r\n${content}\r\n`;
}

export function filePart(content?: string): string {
  return part('Content-Disposition: form-data; name="file"; filename="a.txt"', content);
}
