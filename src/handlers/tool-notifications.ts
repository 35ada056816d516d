import { withoutMessages } from '../request/logged-causes.ts'
import { createHash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { GatewayError, operatorText } from '../errors.ts'
import type { ToolEndpoint } from '../mcp/tool-endpoint.ts'
import type { StreamRefusal, ToolStream } from '../mcp/tool-streams.ts'
import { setPrincipal } from '../pipeline/context.ts'
import { identifyAgain } from '../pipeline/decide-again.ts'
import type { Dependencies } from '../pipeline/dependencies.ts'
import { createPrincipalOf } from '../pipeline/authenticate-caller.ts'
import { onClosed } from './closed-response.ts'
import type { DescribedCaller } from './possible-operations.ts'
import { visibleTools } from './visible-tools.ts'

/** The notifications of one client. They are closed when its response is over. */
export interface NotificationsOfClient {
  /** Identifies the tools that the caller saw last. */
  readonly seen: () => string
}

interface NotifiedClient {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  readonly caller: DescribedCaller
  readonly notify: () => void
  /** Ends the stream of the client. */
  readonly end: () => void
}

/** Opens the notifications of a client. @throws GatewayError if there are too many streams, or if the records are too old */
export type OpenNotifications = (client: NotifiedClient) => Promise<NotificationsOfClient>

/** Creates the function that opens notifications. They contain no data. The client then reads the list, and the gateway decides again. */
export function createOpenNotifications(
  dependencies: Dependencies,
  { tools, streams }: Pick<ToolEndpoint, 'tools' | 'streams'>,
): OpenNotifications {
  const { log } = dependencies
  const identify = createPrincipalOf(dependencies)

  async function digestOf(caller: DescribedCaller, isAwaited: () => boolean): Promise<string> {
    const visible = await visibleTools(dependencies, tools, { caller, isAwaited })
    const names = visible.map(({ description }) => description.name)
    return createHash('sha256').update(names.join()).digest('base64url').slice(0, 22)
  }

  return async function openNotifications({ request, reply, caller: { engine, principal }, notify, end }) {
    const { authenticator } = engine
    const refusal = streams.refusalFor(principal.userId)
    if (refusal !== null) throw refusalOf(refusal)
    let caller = principal
    let version: number | null = engine.recordsVersion()
    let seen = ''
    let isEnded = false
    const isOpen = (): boolean => streams.has(stream)
    const stream: ToolStream = {
      user: principal.userId,
      isCurrent: () => isUnchanged(engine, version) && authenticator.isCurrent(caller),
      review: async () => {
        version = null
        caller = await identifyAgain({ authenticator, identify }, caller, request)
        setPrincipal(request.context, caller)
        const current = engine.recordsVersion()
        const digest = await digestOf({ engine, principal: caller }, isOpen)
        version = current
        // A stream that has ended meanwhile accepts no message.
        if (digest === seen || !isOpen()) return
        seen = digest
        notify()
      },
      end: () => {
        isEnded = true
        notify()
        end()
      },
      onError: (error) => {
        if (!(error instanceof GatewayError))
          log.error(
            { err: withoutMessages(error) },
            'a stream of a client of tools ended: its tools could not be compared',
          )
      },
    }
    // The place is taken before the first wait, so that many requests at once do not exceed the limits.
    streams.add(stream)
    onClosed(reply.raw, () => streams.delete(stream))
    try {
      seen = await digestOf({ engine, principal }, isOpen)
      // Otherwise nothing would end a stream that was drained while it was opened.
      if (isEnded) throw refusalOf('draining')
    } catch (error) {
      streams.delete(stream)
      throw error
    }
    return { seen: () => seen }
  }
}

/** Returns false if other records are in force, or if they are too old for a decision. */
function isUnchanged(
  { recordsVersion }: Pick<DescribedCaller['engine'], 'recordsVersion'>,
  version: number | null,
): boolean {
  try {
    return recordsVersion() === version
  } catch {
    return false
  }
}

function refusalOf(refusal: StreamRefusal): GatewayError {
  if (refusal === 'draining') return new GatewayError('GW_DRAINING')
  if (refusal === 'process')
    return new GatewayError('GW_OVERLOADED', { message: operatorText`Too many streams are open` })
  return new GatewayError('GW_RATE_LIMITED', {
    message: operatorText`Too many streams of this user are open`,
  })
}
