import type { IncomingHttpHeaders } from 'node:http'

/** Returns the headers with these names, in lower case. The values of a repeated header are joined. */
export function pickHeaders(headers: IncomingHttpHeaders, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = headers[name]
      return value === undefined ? [] : [[name, String(value)]]
    }),
  )
}
