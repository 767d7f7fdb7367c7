/** Icons are imported by their own path, because a build that imports the package's index would read all 6,000 icons. */
declare module '@tabler/icons-react/dist/esm/icons/*.mjs' {
  import type { Icon } from '@tabler/icons-react';

  const icon: Icon;
  export default icon;
}
