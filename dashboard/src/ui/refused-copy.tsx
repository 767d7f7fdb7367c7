import { strings } from '../strings.ts';
import { notifyError } from './notify.ts';
import styles from './refused-copy.module.css';

/** Shows a text that the browser does not let the page copy. The text is selected, so that the person can copy it at once. */
export function notifyRefusedCopy(text: string): void {
  notifyError(
    strings.copyRefused,
    <textarea
      className={styles.text}
      aria-label={strings.copyText}
      readOnly
      rows={Math.min(text.split('\n').length + 1, 8)}
      value={text}
      translate="no"
      ref={(shown) => shown?.select()}
      onFocus={({ currentTarget }) => currentTarget.select()}
    />,
  );
}
