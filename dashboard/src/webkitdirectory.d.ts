import 'react';

declare module 'react' {
  // All browsers support this attribute, but no standard has it, so React has no type for it.
  interface InputHTMLAttributes<T> {
    webkitdirectory?: T extends HTMLInputElement ? '' : never;
  }
}
