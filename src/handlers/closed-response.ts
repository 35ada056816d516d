import type { ServerResponse } from 'node:http'

/** Calls a function when a response is over, also if its client has already disconnected. */
export function onClosed(response: ServerResponse, work: () => void): void {
  if (response.destroyed || response.socket?.destroyed === true) work()
  else response.once('close', work)
}
