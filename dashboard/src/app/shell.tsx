import IconFiles from '@tabler/icons-react/dist/esm/icons/IconFiles.mjs';
import IconFileText from '@tabler/icons-react/dist/esm/icons/IconFileText.mjs';
import IconKey from '@tabler/icons-react/dist/esm/icons/IconKey.mjs';
import { Link, Outlet } from '@tanstack/react-router';
import { strings } from '../strings.ts';
import { ThemeSwitch } from '../ui/theme-switch.tsx';
import { DropZone } from '../uploads/drop-zone.tsx';
import { UploadPanel } from '../uploads/upload-panel.tsx';
import { AccountMenu } from './account-menu.tsx';
import styles from './shell.module.css';

const words = strings.navigation;

const PAGES = [
  ['/', IconFiles, words.files],
  ['/api-keys', IconKey, words.apiKeys],
  ['/docs', IconFileText, words.reference],
] as const;

/** The frame of every page that needs a session: header, content, uploads. */
export function Shell() {
  return (
    <div className={styles.frame}>
      <a href="#content" className={styles.skip}>
        {words.skip}
      </a>
      <header className={styles.header}>
        <div className={styles.bar}>
          <Link to="/" className={styles.brand}>
            <img src="/dashboard/icon.svg" alt="" width={28} height={28} />
            <span>{strings.product}</span>
          </Link>
          <nav className={styles.pages} aria-label={words.label}>
            {PAGES.map(([to, Icon, label]) => (
              <Link key={to} to={to} className={styles.page} activeOptions={{ exact: true, includeSearch: false }}>
                <Icon size={18} aria-hidden />
                <span>{label}</span>
              </Link>
            ))}
          </nav>
          <div className={styles.tools}>
            <ThemeSwitch />
            <AccountMenu />
          </div>
        </div>
      </header>
      <main id="content" className={styles.content} tabIndex={-1}>
        <Outlet />
      </main>
      <UploadPanel />
      <DropZone />
    </div>
  );
}
