import styles from './empty-box.module.css';

/** The box that replaces an empty list. */
export function EmptyBox({ label, children }: { label: string; children: React.ReactNode }) {
  return (
    <section className={styles.box} aria-label={label}>
      {children}
    </section>
  );
}
