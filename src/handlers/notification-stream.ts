import { PassThrough } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { KEEP_ALIVE_MS } from '../mcp/tool-streams.ts'
import { onClosed } from './closed-response.ts'
import type { NotificationsOfClient, OpenNotifications } from './tool-notifications.ts'
import type { DescribedCaller } from './possible-operations.ts'

const CHANGED = JSON.stringify({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' })

/**
 * Serves a stream of server-sent events that the versions of the protocol with a handshake open with GET. The id of each event
 * identifies the tools of the caller. A client that connects again sends the id, at any replica, and is notified if it has missed a
 * change.
 */
export async function serveNotificationStream(
  open: OpenNotifications,
  {
    request,
    reply,
    caller,
  }: { readonly request: FastifyRequest; readonly reply: FastifyReply; readonly caller: DescribedCaller },
): Promise<FastifyReply> {
  const events = new PassThrough()
  let opened: NotificationsOfClient | null = null
  const notify = () => void events.write(`id: ${opened?.seen() ?? ''}\nevent: message\ndata: ${CHANGED}\n\n`)
  opened = await open({ request, reply, caller, notify, end: () => events.end() })
  const { seen } = opened
  const keepAlive = setInterval(() => events.write(':\n\n'), KEEP_ALIVE_MS).unref()
  onClosed(reply.raw, () => {
    clearInterval(keepAlive)
    events.destroy()
  })
  const lastEventId = request.headers['last-event-id']
  if (lastEventId === undefined || lastEventId === seen()) events.write(`id: ${seen()}\ndata: \n\n`)
  else notify()
  return reply
    .header('content-type', 'text/event-stream')
    .header('cache-control', 'no-store')
    .header('x-accel-buffering', 'no')
    .send(events)
}
