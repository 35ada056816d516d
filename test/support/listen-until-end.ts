import { once } from 'node:events'
import type { Server, Socket } from 'node:net'
import type { Test } from 'tap'
import { urlOf } from '../../src/tls/listener-url.ts'

/** Lets a server listen on a free port of 127.0.0.1 until the test ends. The connections are closed then. Returns the URL. */
export async function listenUntilEnd(
  t: Pick<Test, 'teardown'>,
  server: Server,
  isTls = false,
): Promise<string> {
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  return urlOf(server, isTls)
}
