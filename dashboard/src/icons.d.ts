/** Icons are imported by their own path, because a build would read all 6,000 of the package's index. */
declare module '@tabler/icons-react/dist/esm/icons/*.mjs' {
  const icon: import('@tabler/icons-react').Icon;
  export default icon;
}
