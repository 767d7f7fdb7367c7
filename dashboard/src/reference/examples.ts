import { strings } from '../strings.ts';

const words = strings.reference;
const AUTHORIZATION = '-H "Authorization: Bearer $FILE_HOSTING_KEY"';

/** Examples of the most common requests, as shell commands. */
export function examples(baseUrl: string): readonly { readonly title: string; readonly code: string }[] {
  return [
    { title: words.upload, code: `curl -F file=@photo.jpg ${AUTHORIZATION} ${baseUrl}/files` },
    { title: words.list, code: `curl ${AUTHORIZATION} "${baseUrl}/files?limit=10&search=photo"` },
    { title: words.remove, code: `curl -X DELETE ${AUTHORIZATION} ${baseUrl}/files/$ID` },
    {
      title: words.direct,
      code: [
        `SIZE=$(wc -c < film.mp4 | tr -d ' ')`,
        `curl ${AUTHORIZATION} --json '{"name":"film.mp4","mime_type":"video/mp4","size_bytes":'$SIZE'}' ${baseUrl}/files`,
        `# It answers {"id": …, "upload": {"url": …, "headers": {…}}}: send the bytes to that URL with each of those headers.`,
        `curl -T film.mp4 -H "Content-Type: video/mp4" -H "If-None-Match: *" "$URL"`,
        `curl -X POST ${AUTHORIZATION} ${baseUrl}/files/$ID/complete`,
      ].join('\n'),
    },
  ];
}
