import { Fragment } from 'react';

/** Stands for the name while a sentence is taken apart. */
const PLACE = '\0';

/** A sentence with a name, such as that of a file. A translator of the browser translates the sentence, and leaves the name as it is. */
export function Naming({ words, name }: { words: (name: string) => string; name: string }) {
  return words(PLACE)
    .split(PLACE)
    .map((part, at) => (
      <Fragment key={at}>
        {at > 0 && <span translate="no">{name}</span>}
        {part}
      </Fragment>
    ));
}
