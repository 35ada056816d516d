import type { ServerResponse } from 'node:http'

/** Beyond this the text costs more than the second part of a gathering write. */
const MAX_BYTES = 2 * 1024

/**
 * Ends an answer whose head is not out yet. Node sends a head and a text in one write, a head and bytes in a gathering
 * one of twice the price; as latin1, every byte is one character and comes out as it went in.
 */
export function endInOneWrite(sink: ServerResponse, body: Buffer): void {
  if (body.length > MAX_BYTES) sink.end(body)
  else sink.end(body.toString('latin1'), 'latin1')
}
