import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { canonicalOf } from '../../../src/request/canonical.ts'

/** Returns the target as the gateway accepts it, or null if the gateway refuses it. */
export function canonical(target: string): string | null {
  const request = new IncomingMessage(new Socket())
  Object.assign(request, {
    url: target,
    method: 'GET',
    httpVersion: '1.1',
    rawHeaders: ['Host', '127.0.0.1'],
  })
  const { url, fault } = canonicalOf(request, { hosts: new Set(), allowedOrigins: new Set() })
  return fault === null ? url : null
}
