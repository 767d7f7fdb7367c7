/** An icon by its own path: the package's index has 6,000, which a build would read each time. */
declare module '@tabler/icons-react/dist/esm/icons/*.mjs' {
  const icon: import('@tabler/icons-react').Icon;
  export default icon;
}
