import styles from './empty-box.module.css';

/** In place of a list that has nothing yet: what could be there, and how it gets there. */
export function EmptyBox({ label, children }: { label: string; children: React.ReactNode }) {
  return (
    <section className={styles.box} aria-label={label}>
      {children}
    </section>
  );
}
