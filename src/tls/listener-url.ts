import type { Server } from 'node:net'

/**
 * Returns the URL of a listening server: `http://127.0.0.1:8080`, `https://0.0.0.0:8443`. @throws if it does not listen on a port
 */
export function urlOf(server: Pick<Server, 'address'>, isTls: boolean): string {
  const at = server.address()
  if (at === null || typeof at === 'string') throw new Error('The listener has no port')
  return `${isTls ? 'https' : 'http'}://${at.family === 'IPv6' ? `[${at.address}]` : at.address}:${at.port}`
}
