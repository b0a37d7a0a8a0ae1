import { clsx, type ClassValue } from 'clsx'
import { twMerge } from 'tailwind-merge'

/** Joins class names; of two that contradict each other the later one stays. */
export function cn(...inputs: ClassValue[]): string {
  return twMerge(clsx(inputs))
}
