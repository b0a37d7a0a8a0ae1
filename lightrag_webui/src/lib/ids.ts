/** Returns an id that nothing else has. `crypto.randomUUID` is missing on pages without HTTPS; this works there too. */
export function newId(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('')
}
