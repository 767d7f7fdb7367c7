import { readdirSync, readFileSync } from 'node:fs';

/** The memory of a process in use, in bytes (Linux). */
export function residentBytes(pid: number): number {
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1_024;
}

/** The open files and sockets of a process (Linux). */
export function openHandles(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length;
}
