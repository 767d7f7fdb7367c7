/** Icons are imported by their own path, because a build that imports the package's index would read all 6,000 icons. */
declare module '@tabler/icons-react/dist/esm/icons/*.mjs' {
  const icon: import('@tabler/icons-react').Icon;
  export default icon;
}
