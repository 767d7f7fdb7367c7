import 'react';

declare module 'react' {
  // Every browser has it; it is in no standard, so React does not type it.
  interface InputHTMLAttributes<T> {
    webkitdirectory?: T extends HTMLInputElement ? '' : never;
  }
}
